"""Records the tokens of conversations in which nothing looks like a special
token: tokens.json. The text is Jinja's, the tokens are those of the library
tokenizers, with a byte-level vocabulary of 256 bytes and a few merges, the
pre-tokenizer of GPT-2, and the special names of each template.

    python tokens.py [../../../../shared/data/chat/templates]
"""

import json
import pathlib
import re
import sys
import zlib

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

import conversations
import oracle

HERE = pathlib.Path(__file__).parent
NAME = re.compile(r"<[|/]?[^<>\s'\"{}()%+]{1,40}>|\[/?[A-Z_]{2,20}\]")
MARKS = re.compile(r"[<>\[\]|｜]")
LEARNT = ["t h", "th e", "i n", "e r", "o u", "Ġ a", "Ġ th", "s t", "Ċ Ċ", "l l", "a r", "> Ċ", "ĠĠ ĠĠ", "Ġ Ġ", ": Ġ", ". Ċ"]
SEEDS = 24
KEPT = 8


def without_marks(value):
    """The value with everything left out that special names are made of."""
    if isinstance(value, str):
        return MARKS.sub("", value)
    if isinstance(value, list):
        return [without_marks(each) for each in value]
    if isinstance(value, dict):
        return {without_marks(key): without_marks(each) for key, each in value.items()}
    return value


def vocabulary():
    pieces = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = []
    for line in LEARNT:
        left, right = line.split(" ")
        if left in pieces and right in pieces:
            merges.append((left, right))
            pieces.append(left + right)
    return pieces, merges


def tokenizer(names):
    pieces, merges = vocabulary()
    made = Tokenizer(models.BPE(vocab={piece: i for i, piece in enumerate(pieces)}, merges=merges))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in names])
    return made


def special_names(source):
    names = ["<s>", "</s>"]
    for name in NAME.findall(source):
        if name not in names:
            names.append(name)
    return names


def recorded(source, given):
    names = special_names(source)
    made = tokenizer(names)
    results = []
    for variables in given:
        text = oracle.render(source, variables)
        if text is None:
            results.append(None)
            continue
        ids = made.encode(text, add_special_tokens=False).ids
        results.append([len(ids), zlib.crc32(",".join(map(str, ids)).encode())])
    return {"names": names, "tokens": results}


def suitable(variables):
    """In the shape of OpenAI's chat completions, with text only."""
    return variables["messages"] and all(isinstance(message.get("content"), str) or (message.get("content") is None and message.get("tool_calls"))
               for message in variables["messages"])


def plain(variables):
    """As transformers gets it from programs that know its documentation."""
    for message in variables["messages"]:
        message.pop("thinking", None)
        for call in message.get("tool_calls") or []:
            if isinstance(call["function"]["arguments"], str):
                call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return {"tools": None, "documents": None, **variables, "bos_token": "<s>", "eos_token": "</s>"}


def main():
    given = []
    for seed in range(SEEDS):
        variables = plain(without_marks(conversations.conversation(seed)))
        if len(given) < KEPT and suitable(variables):
            given.append(variables)
    folders = [HERE / "templates"] + [pathlib.Path(each) for each in sys.argv[1:]]
    templates = {}
    for folder in folders:
        for path in sorted(folder.glob("*.jinja")):
            name = path.stem if folder == folders[0] else path.name
            templates[name] = recorded(path.read_text(encoding="utf-8"), given)
    pieces, merges = vocabulary()
    out = {"pieces": pieces, "merges": [" ".join(pair) for pair in merges], "variables": given, "templates": templates}
    lines = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in out.items())
    (HERE / "tokens.json").write_text("{\n" + lines + "\n}\n", encoding="utf-8")


main()
