#!/usr/bin/env python3
"""Writes ../architectures/smollm.gguf in parts, NAME-00001-of-0000N.gguf, with the gguf package.

    python make.py

"tensors" has at most 8 tensors in each part, "empty" none in the first one. A seed of the fuzz target is made, too.
Versions: ../requirements.txt.
"""

import tempfile
from pathlib import Path

import gguf
import numpy as np

HERE = Path(__file__).resolve().parent
WHOLE = HERE.parent / "architectures" / "smollm.gguf"


def write(name, **options):
    reader = gguf.GGUFReader(WHOLE)
    architecture = reader.fields["general.architecture"].contents()
    writer = gguf.GGUFWriter(HERE / f"{name}.gguf", architecture, **options)
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name == "general.architecture":
            continue
        kind = field.types[0]
        inner = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), kind, inner)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


write("tensors", split_max_tensors=8)
write("empty", split_max_tensors=12, small_first_shard=True)


def write_seed():
    """The size of the first part in two bytes, and both."""
    with tempfile.TemporaryDirectory() as folder:
        writer = gguf.GGUFWriter(Path(folder) / "m.gguf", "llama", split_max_tensors=1)
        writer.add_name("seed")
        for name in ("a", "b"):
            writer.add_tensor(name, np.ones((2, 8), np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        first, second = (path.read_bytes() for path in sorted(Path(folder).iterdir()))
    seeds = HERE.parents[1] / "fuzz" / "seeds" / "parts"
    seeds.mkdir(exist_ok=True)
    (seeds / "two").write_bytes(len(first).to_bytes(2, "little") + first + second)


write_seed()
