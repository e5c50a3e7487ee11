#!/usr/bin/env python3
"""Every model type that transformers' mapping of causal models and llama.cpp's converter share, and what the engine makes of it.

    python model_types.py BUILD/bin/runcible llama_cpp_python-0.3.36/vendor/llama.cpp TARGET > model_types.md

TARGET has the models of draw.py. A type that bases.py makes none of must be refused by its name: config.json has its type and class, as
transformers writes them. Fails where one is wrong, or refused without its name.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import transformers
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

from score import Row


def shared_types(llama_cpp):
    """Model types, and the names of their classes."""
    known = set()
    for file in (llama_cpp / "conversion").glob("*.py"):
        for names in re.findall(r"@ModelBase\.register\(([^)]*)\)", file.read_text(), re.S):
            known |= set(re.findall(r'"([^"]+)"', names))
    classes = {model_type: name if isinstance(name, str) else name[0] for model_type, name in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.items()}
    return {model_type: name for model_type, name in sorted(classes.items()) if name in known}


def refusal(program, model_type, name):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.json").write_text(json.dumps(dict(model_type=model_type, architectures=[name])))
        (Path(folder) / "model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
        run = subprocess.run([program, "inspect", folder], capture_output=True, text=True)
    words = run.stderr.strip().splitlines()
    return words[-1].removeprefix("runcible: ").replace(folder, "") if run.returncode and words else "accepted"


def main():
    program, llama_cpp, target = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), Path(sys.argv[3])
    types = shared_types(llama_cpp)
    right, bad = 0, 0
    print(f"transformers {transformers.__version__}; {len(types)} types\n")
    print("| model type | folder, reference | folder, cpu | converted, reference | converted, cpu | llama.cpp's file, cpu |")
    print("|---|---|---|---|---|---|")
    for model_type, name in types.items():
        if (target / model_type / "tokens.json").exists():
            row = Row(program, target / model_type)
            cells = [row.cells[source, backend] for source in ("folder", "converted") for backend in ("reference", "cpu")]
            print(f"| {model_type} | " + " | ".join(cells) + f" | {row.cells['llama.cpp', 'cpu'].replace(str(target), '')} |")
            right += row.is_right("folder") and row.is_right("converted")
            bad += any(source != "llama.cpp" for source, backend in row.wrong)
        else:
            words = refusal(program, model_type, name)
            bad += f"'{model_type}'" not in words
            print(f"| {model_type} | {words} | | | | |")
    print(f"\n{right} right as folder and as GGUF, {bad} wrong or refused without a name, of {len(types)}")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
