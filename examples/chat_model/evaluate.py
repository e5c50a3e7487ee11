"""Evaluates a fabulist model by a hundred questions about its fables that training has not seen.

    python evaluate.py FABULIST.gguf [COUNT]

A rule for each kind of question judges the most probable answer. Transformers runs the weights of the file, as
quantized. Answers that are not sensible are printed.
"""

import difflib
import json
import sys
from collections import Counter

import torch

from conversations import ASKING_JSON, Asked, Asker, TOOLS
from llama_gguf import read_model, read_tokenizer
from rendering import text_of
from world import FABLES

MOST_TOKENS = 200


class Speaker:
    def __init__(self, path):
        self.model = read_model(path)
        self.tokenizer = read_tokenizer(path)
        self.end = self.tokenizer.token_to_id("<|im_end|>")

    def answer(self, messages, tools):
        ids = self.tokenizer.encode(text_of(messages, tools, answer=True)).ids
        with torch.no_grad():
            out = self.model.generate(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long),
                                      max_new_tokens=MOST_TOKENS, do_sample=False, eos_token_id=self.end,
                                      pad_token_id=0)
        return self.tokenizer.decode(out[0, len(ids):].tolist())


def alike(text, wanted):
    return difflib.SequenceMatcher(None, text, wanted).ratio() >= 0.9


def call_in(text):
    """Returns the call in an answer, or None if it is not a call."""
    begin, end = "<tool_call>\n", "\n</tool_call>"
    if not (text.startswith(begin) and text.endswith(end)):
        return None
    try:
        return json.loads(text[len(begin):-len(end)])
    except ValueError:
        return None


def says_json(text, asked):
    try:
        said = json.loads(text)
    except ValueError:
        return False
    return list(said) == asked.keys and said == json.loads(asked.answer)


def says_titles(text, asked):
    named = [fable for fable in FABLES if fable.title in text]
    animal = asked.key.rsplit("?", 1)[-1].rsplit(".", 1)[-1]
    return bool(named) and all(animal in fable.animals for fable in named)


def is_sensible(text, asked: Asked):
    if asked.kind in ("tell", "short", "moral", "meaning", "animals"):
        return alike(text, asked.answer)
    if asked.kind == "with":
        return says_titles(text, asked)
    if asked.kind in ("unknown", "outside", "weather"):
        return "not know" in text
    if asked.kind == "without":
        return "know no" in text
    if asked.kind in ("add", "time"):
        return alike(text, asked.answer)
    if asked.kind == "json":
        return says_json(text, asked)
    raise ValueError(asked.kind)


def questions(count):
    asker = Asker("held out", held=True)
    kinds = [asker.tell, asker.short, asker.moral, asker.meaning, asker.animals, asker.with_animal, asker.unknown,
             asker.outside, lambda: asker.json(asker.json_keys(), ASKING_JSON), lambda: asker.add(False),
             lambda: asker.add(True), asker.find, lambda: asker.weather(True)]
    for index in range(count):
        yield kinds[index % len(kinds)]()


def ask(speaker, asked):
    """Returns the answer, and whether it is sensible; after a call also the answer to its result."""
    messages = [{"role": "user", "content": asked.text}]
    if asked.call is None:
        text = speaker.answer(messages, [])
        return text, is_sensible(text, asked)
    text = speaker.answer(messages, TOOLS)
    if call_in(text) != asked.call:
        return text, False
    messages += [{"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": asked.call}]},
                 {"role": "tool", "content": asked.result}]
    after = speaker.answer(messages, TOOLS)
    return f"{text} {after}", alike(after, asked.after)


def main():
    speaker = Speaker(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    asked_of, sensible_of = Counter(), Counter()
    for asked in questions(count):
        kind = asked.kind + (" with a tool" if asked.call else "")
        text, good = ask(speaker, asked)
        asked_of[kind] += 1
        sensible_of[kind] += good
        if not good:
            print(f"not sensible: {asked.text!r}: {text!r}", file=sys.stderr)
    print(json.dumps(dict(questions=count, sensible=sum(sensible_of.values()),
                          by_kind={kind: f"{sensible_of[kind]}/{asked_of[kind]}" for kind in asked_of})))


if __name__ == "__main__":
    main()
