#!/usr/bin/env python3
"""What the fable model in examples/model says, by transformers: tokens, logits, the likeliest text.

Writes fable.json and PROMPT.logits.f32. See README.md. Versions: ../requirements.txt.

    python make.py
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
import transformers

HERE = Path(__file__).resolve().parent
MODEL_FOLDER = HERE.parents[2] / "examples" / "model"
sys.path.insert(0, str(MODEL_FOLDER))

from fables import Fable  # noqa: E402
from llama_gguf import read_model, read_tokenizer  # noqa: E402

ORACLE = f"transformers {transformers.__version__}, torch {torch.__version__.split('+')[0]}, eager attention, float64"
ROWS = 24  # of logits kept for each prompt
PROMPTS = {"nothing": "", "opening": "Once upon a time", "dialogue": "\"Who are you?\" asked the fox. \"I am"}
TEXTS = [Fable(f"golden {index}").text for index in range(4)] + [
    "The dragon's treasure: 1234 coins!", "  Two spaces,\n\nan empty line\tand a tab.",
    "na\u00efve caf\u00e9 \u2013 \u65e5\u672c\u8a9e \U0001F98A"]


def greedy(model, tokens, end):
    """The likeliest continuation up to its end, and the smallest lead of a token over the next best."""
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
    path = MODEL_FOLDER / "fable.gguf"
    model, tokenizer = read_model(path).double(), read_tokenizer(path)
    model.set_attn_implementation("eager")
    begin, end = model.config.bos_token_id, model.config.eos_token_id
    prompts = []
    for name, text in PROMPTS.items():
        prompt = [begin, *tokenizer.encode(text).ids]
        tokens, margin = greedy(model, prompt, end)
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([tokens[:ROWS]])).logits[0].numpy()
        logits.astype(np.float32).tofile(HERE / f"{name}.logits.f32")
        prompts.append(dict(name=name, text=text, prompt_tokens=prompt, tokens=tokens,
                            continuation=tokenizer.decode([t for t in tokens[len(prompt):] if t != end]),
                            smallest_margin=round(margin, 4)))
    texts = [dict(text=text, ids=tokenizer.encode(text).ids) for text in TEXTS]
    result = dict(oracle=ORACLE, rows=ROWS, prompts=prompts, texts=texts)
    (HERE / "fable.json").write_text(json.dumps(result, indent=1) + "\n")
    for prompt in prompts:
        print(prompt["name"], prompt["smallest_margin"], prompt["text"] + prompt["continuation"], sep="\n")


if __name__ == "__main__":
    # float32 means float64 here, so that norms, softmax and rotary tables are not rounded either.
    torch.float32 = torch.float = torch.float64
    torch.Tensor.float = torch.Tensor.double
    main()
