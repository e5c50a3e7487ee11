"""Records what Jinja makes of the templates here: cases.json, conversations.json
and, given the folder of published templates, published.json.

    python make.py [../../../../shared/data/chat/templates]
"""

import json
import pathlib
import re
import sys
import warnings
import zlib

import cases
import conversations
import oracle

HERE = pathlib.Path(__file__).parent
# Whole numbers of more than 64 bits and complex ones, which Runcible refuses.
BEYOND = re.compile(r"big \* big|huge\)?\|int|%[-+ .053]*[diu]\|?' % huge|%c' % (huge|f)|\{:[_,]?[dxb]?\}'\.format\(huge")
# Python's own names of objects in memory, and its message of a loop's closure.
OBJECT = re.compile(r"0x[0-9a-f]{6}|generator|iterator|object", re.IGNORECASE)
OFTEN = 6  # one of so many of the crossed cases is kept
CONVERSATIONS = 16


def recorded_cases():
    crossed = set(cases.crossed())
    out = []
    for source in cases.all_cases():
        if source in crossed and zlib.crc32(source.encode()) % OFTEN:
            continue
        text = oracle.render(source, cases.VARIABLES)
        if BEYOND.search(source) or (text is not None and (OBJECT.search(text) or text.endswith("j)"))):
            continue
        out.append([source, text])
    return out


def in_bytes(text, spans):
    return [[len(text[:begin].encode()), len(text[:end].encode())] for begin, end in spans if begin < end]


def recorded_conversations():
    given = [conversations.conversation(seed) for seed in range(CONVERSATIONS)]
    templates = {}
    for path in sorted((HERE / "templates").glob("*.jinja")):
        source = path.read_text(encoding="utf-8")
        results = []
        for variables in given:
            text = oracle.render(source, variables)
            if text is None:
                results.append(None)
                continue
            again, spans = oracle.render_with_generation(source, variables)
            assert again == text
            results.append({"text": text, "generation": in_bytes(text, spans)})
        templates[path.stem] = results
    return {"variables": given, "templates": templates}


def recorded_published(folder):
    out = {}
    for path in sorted(folder.glob("*.jinja")):
        with open(path, encoding="utf-8", newline="") as file:
            source = file.read()
        texts = [oracle.render(source, conversations.conversation(seed)) for seed in range(CONVERSATIONS)]
        out[path.name] = [None if text is None else [len(text.encode()), zlib.crc32(text.encode())] for text in texts]
    return out


def write(name, value, one_a_line=None):
    with open(HERE / name, "w", encoding="utf-8") as file:
        if one_a_line is None:
            json.dump(value, file, ensure_ascii=True)
        else:
            head = dict(value)
            rows = head.pop(one_a_line)
            file.write(json.dumps(head)[:-1] + f', "{one_a_line}": [\n')
            file.write(",\n".join(json.dumps(row) for row in rows) + "\n]}")
        file.write("\n")


def main():
    warnings.simplefilter("ignore")
    write("cases.json", {"variables": cases.VARIABLES, "cases": recorded_cases()}, "cases")
    write("conversations.json", recorded_conversations())
    if len(sys.argv) > 1:
        write("published.json", recorded_published(pathlib.Path(sys.argv[1])))


if __name__ == "__main__":
    main()
