#!/usr/bin/env python3
"""names.json: the architectures, tensors and keys that llama.cpp's gguf package knows, so that a test can compare those that we read.

    pip download --no-deps --no-binary :all: llama-cpp-python==0.3.36, unpack it, and
    PYTHONPATH=llama_cpp_python-0.3.36/vendor/llama.cpp/gguf-py python make_names.py
"""

import json
from pathlib import Path

import gguf


def keys_of(group):
    for name, value in vars(group).items():
        if isinstance(value, str) and not name.startswith("_"):
            yield value
        elif isinstance(value, type):
            yield from keys_of(value)


def main():
    stem = lambda tensor: gguf.TENSOR_NAMES[tensor].replace("blk.{bid}.", "")
    names = {
        "made_with": "llama-cpp-python 0.3.36",
        "architectures": {gguf.MODEL_ARCH_NAMES[arch]: sorted(stem(tensor) for tensor in tensors if tensor in gguf.TENSOR_NAMES)
                          for arch, tensors in sorted(gguf.MODEL_TENSORS.items(), key=lambda item: gguf.MODEL_ARCH_NAMES[item[0]])},
        "keys": sorted({key.removeprefix("{arch}.") for key in keys_of(gguf.Keys) if key.startswith("{arch}.")}),
    }
    text = ",\n".join(f"  {json.dumps(name)}: {json.dumps(tensors)}" for name, tensors in names["architectures"].items())
    path = Path(__file__).resolve().parent / "names.json"
    path.write_text(f'{{\n "made_with": {json.dumps(names["made_with"])},\n "architectures": {{\n{text}\n }},\n '
                    f'"keys": {json.dumps(names["keys"])}\n}}\n')


if __name__ == "__main__":
    main()
