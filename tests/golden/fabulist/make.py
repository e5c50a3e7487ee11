#!/usr/bin/env python3
"""What the fabulist model in examples/chat_model answers, by transformers: prompts, tokens, the likeliest answers.

Writes fabulist.json. See README.md. Versions: ../requirements.txt.

    python make.py
"""

import json
import sys
from pathlib import Path

import torch
import transformers

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[2] / "examples"
sys.path[:0] = [str(EXAMPLES / "chat_model"), str(EXAMPLES / "model")]

from conversations import ADD, FIND, TIME, WEATHER  # noqa: E402
from llama_gguf import read_model, read_tokenizer  # noqa: E402
from rendering import text_of  # noqa: E402

ORACLE = f"transformers {transformers.__version__}, torch {torch.__version__.split('+')[0]}, eager attention, float64"
END = "<|im_end|>"


def user(text):
    return {"role": "user", "content": text}


def called(name, **arguments):
    return {"role": "assistant", "content": "", "tool_calls": [
        {"id": "call00001", "type": "function", "function": {"name": name, "arguments": arguments}}]}


def result(text):
    return {"role": "tool", "tool_call_id": "call00001", "content": text}


CONVERSATIONS = [
    ("greeting", [user("Hello!")], []),
    ("fable", [user("Tell me the fox and the well.")], []),
    ("moral", [{"role": "system", "content": "You tell fables."}, user("What is the moral of The Bear and the Honey?")], []),
    ("unknown", [user("Do you know a fable with a whale?")], []),
    ("json", [user("Give me The Ant and the Leaf as JSON with the keys title and animals.")], []),
    ("time", [user("What time is it?")], [ADD, TIME]),
    ("time told", [user("What time is it?"), called("get_time"), result("12:34")], [ADD, TIME]),
    ("weather", [user("What is the weather in Rome?")], [WEATHER, FIND]),
]


def greedy(model, tokens, end):
    """The likeliest continuation up to its end, and the smallest lead of a token over the next best in logits."""
    tokens, margin = list(tokens), float("inf")
    while len(tokens) < model.config.max_position_embeddings:
        with torch.no_grad():
            best = model(input_ids=torch.tensor([tokens])).logits[0, -1].topk(2)
        margin = min(margin, (best.values[0] - best.values[1]).item())
        tokens.append(best.indices[0].item())
        if tokens[-1] == end:
            break
    return tokens, margin


def main():
    path = EXAMPLES / "chat_model" / "fabulist.gguf"
    model, tokenizer = read_model(path).double(), read_tokenizer(path)
    model.set_attn_implementation("eager")
    end = tokenizer.token_to_id(END)
    cases = []
    for name, messages, tools in CONVERSATIONS:
        text = text_of(messages, tools, answer=True)
        prompt = tokenizer.encode(text).ids
        tokens, margin = greedy(model, prompt, end)
        answer = tokenizer.decode(tokens[len(prompt):])
        print(f"{name}: {answer} ({margin:.2f})")
        cases.append(dict(name=name, messages=messages, tools=tools, prompt=text, prompt_tokens=prompt, answer=answer,
                          smallest_margin=round(margin, 4)))
    (HERE / "fabulist.json").write_text(
        json.dumps(dict(oracle=ORACLE, cases=cases), indent=1) + "\n")


if __name__ == "__main__":
    main()
