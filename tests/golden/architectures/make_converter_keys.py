#!/usr/bin/env python3
"""converter_keys.json: the keys of models that llama.cpp's gguf package knows, and which of its converters write each of them.

    pip download --no-deps --no-binary :all: llama-cpp-python==0.3.36, unpack it, and
    python make_converter_keys.py llama_cpp_python-0.3.36/vendor/llama.cpp
"""

import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def keys_of(group):
    for name, value in vars(group).items():
        if isinstance(value, str) and not name.startswith("_"):
            yield f"{group.__qualname__}.{name}", value
        elif isinstance(value, type):
            yield from keys_of(value)


def main():
    root = Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(root / "gguf-py"))
    import gguf
    assert Path(gguf.__file__).resolve().is_relative_to(root)
    text = (root / "gguf-py/gguf/gguf_writer.py").read_text()
    # Methods of the writer by the constant that they write.
    methods = {}
    for name, body in re.findall(r"def (add_\w+)\(self(.*?)(?=\n    def |\Z)", text, re.S):
        for constant in re.findall(r"Keys\.[\w.]+", body):
            methods.setdefault(constant.removesuffix(".format"), set()).add(name)
    sources = {path.name: path.read_text() for path in sorted((root / "conversion").glob("*.py"))}
    keys = {}
    for constant, key in keys_of(gguf.Keys):
        if not key.startswith(("{arch}.", "tokenizer.")):
            continue
        for name in [key.replace("{dense}", f"dense_{i}") for i in (2, 3)] if "{dense}" in key else [key.replace("{name}", "tool_use")]:
            keys[name.removeprefix("{arch}.")] = [
                file for file, source in sources.items()
                if any(f".{method}(" in source for method in methods.get(constant, ())) or constant in source]
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(files)}" for key, files in sorted(keys.items()))
    (HERE / "converter_keys.json").write_text(f'{{\n "made_with": "llama-cpp-python 0.3.36",\n "keys": {{\n{lines}\n }}\n}}\n')


if __name__ == "__main__":
    main()
