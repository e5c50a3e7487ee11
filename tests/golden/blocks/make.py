#!/usr/bin/env python3
"""Blocks of every format and the values they stand for. See README.md. Versions: ../requirements.txt.

    python make.py
"""

import json
from pathlib import Path

import gguf
import numpy as np

HERE = Path(__file__).resolve().parent
TYPE = gguf.GGMLQuantizationType
QUANTIZED = 512  # values from input.f32, where the gguf package can quantize
FREE = 1024      # values from random bits with chosen scales

# format: where the scales of a block are: (offset, kind)
SCALES = {
    "F16": [], "BF16": [],
    "Q4_0": [(0, "f16")], "Q4_1": [(0, "f16"), (2, "f16")],
    "Q5_0": [(0, "f16")], "Q5_1": [(0, "f16"), (2, "f16")],
    "Q8_0": [(0, "f16")],
    "Q2_K": [(80, "f16"), (82, "f16")], "Q3_K": [(108, "f16")],
    "Q4_K": [(0, "f16"), (2, "f16")], "Q5_K": [(0, "f16"), (2, "f16")], "Q6_K": [(208, "f16")],
    "IQ4_NL": [(0, "f16")], "IQ4_XS": [(0, "f16")],
    "MXFP4": [(0, "e8m0")],
    "TQ2_0": [(64, "f16")],
    "IQ2_XXS": [(0, "f16")], "IQ2_XS": [(0, "f16")], "IQ2_S": [(0, "f16")],
    "IQ3_XXS": [(0, "f16")], "IQ3_S": [(0, "f16")],
    "IQ1_S": [(0, "f16")], "IQ1_M": [(48, "nibbles")],
    "TQ1_0": [(52, "f16")], "NVFP4": [(0, "e4m3")],
}
# Made after all others, which keep their random bits.
LATER = ["TQ2_0", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ1_S", "IQ1_M", "TQ1_0", "NVFP4"]

# a usual scale, a negative one, zero, negative zero, the smallest subnormal, a large subnormal, a large one
F16_SCALES = [0.0123, -0.0371, 0.0, -0.0, 2.0 ** -24, 1023 * 2.0 ** -24, 61.5, 1.0]
# exponents: 2^-128 (subnormal), 2^-127, 2^-126, ..., 2^124 (12 times that is still finite); 255 is NaN and left out
E8M0_SCALES = [0, 1, 2, 3, 100, 127, 130, 252]
# nothing, subnormal, what would be NaN, the largest, usual ones
E4M3_SCALES = [[0x00, 0x01, 0x07, 0x08], [0x7F, 0x7E, 0x38, 0x40], [0x23, 0x2B, 0x31, 0x3F], [0x10, 0x55, 0x66, 0x77]]


def free_blocks(name, rng):
    """Random bits are valid codes in every format; only the scales are chosen."""
    per_block, size = gguf.GGML_QUANT_SIZES[TYPE[name]]
    n = FREE // per_block
    blocks = rng.integers(0, 256, (n, size), dtype=np.uint8)
    for which, (offset, kind) in enumerate(SCALES[name]):
        # blocks of few: a negative, a subnormal, a large and a usual scale
        order = [1, 5, 6, 0] if n < 8 else range(8)
        for b in range(n):
            i = list(order)[(b + which) % len(order)]
            if kind == "e4m3":
                blocks[b, offset:offset + 4] = E4M3_SCALES[b % 4]
            elif kind == "nibbles":  # the upper ones of four 16-bit words
                bits = int(np.array([F16_SCALES[i]], "<f2").view("<u2")[0])
                for k in range(4):
                    high = offset + 2 * k + 1
                    blocks[b, high] = blocks[b, high] & 15 | (bits >> (4 * k) & 15) << 4
            elif kind == "f16":
                blocks[b, offset:offset + 2] = np.array([F16_SCALES[i]], "<f2").view(np.uint8)
            else:
                blocks[b, offset] = E8M0_SCALES[i]
    if name in ("F16", "BF16"):
        exponent = 0x7C00 if name == "F16" else 0x7F80
        bits = blocks.view("<u2")
        bits[:8, 0] = [0, 0x8000, 1, 0x8001, exponent - 1, 0x8000 | (exponent - 1), exponent, 0x8000 | exponent]
        nan = (bits & 0x7FFF) > exponent
        bits[nan] &= 0xBFFF  # no NaN
    return blocks.reshape(-1)


def main():
    rng = np.random.default_rng(20240501)
    x = rng.standard_normal(QUANTIZED).astype(np.float32)
    x[32:64] = 0
    x[64:96] *= 1e-4
    x[96] = 40
    x.astype("<f4").tofile(HERE / "input.f32")
    index = []

    def put(name, blocks, values, per_block, size, quantized):
        assert len(blocks) * per_block == len(values) * size and not np.isnan(values).any()
        blocks.tofile(HERE / f"{name}.blocks")
        values.astype("<f4").tofile(HERE / f"{name}.deq.f32")
        index.append({"name": name, "values": len(values), "values_per_block": per_block, "bytes_per_block": size,
                      "from_input": quantized})

    def put_weights(name):
        per_block, size = gguf.GGML_QUANT_SIZES[TYPE[name]]
        parts, quantized = [free_blocks(name, rng)], 0
        try:
            parts.insert(0, np.ascontiguousarray(gguf.quantize(x, TYPE[name])).view(np.uint8).reshape(-1))
            quantized = QUANTIZED
        except NotImplementedError:
            pass
        blocks = np.concatenate(parts)
        if name == "F16":  # the package leaves F16 to numpy
            values = blocks.view("<f2").astype(np.float32)
        else:
            values = gguf.dequantize(blocks, TYPE[name]).reshape(-1)
        put(name, blocks, values, per_block, size, quantized)

    for name in SCALES:
        if name not in LATER:
            put_weights(name)

    # the two formats of activations, which the package does not know: from their definition
    q8_1 = np.zeros(16, np.dtype([("d", "<f2"), ("s", "<f2"), ("q", "i1", 32)]))
    q8_1["d"] = np.resize(np.array(F16_SCALES), 16)
    q8_1["q"] = rng.integers(-127, 128, (16, 32))
    with np.errstate(over="ignore"):
        q8_1["s"] = (q8_1["d"].astype(np.float32) * q8_1["q"].sum(1, dtype=np.int32)).astype("<f2")
    put("Q8_1", q8_1.view(np.uint8).reshape(-1), (q8_1["d"].astype(np.float32)[:, None] * q8_1["q"]).reshape(-1),
        32, q8_1.dtype.itemsize, 0)

    q8_k = np.zeros(4, np.dtype([("d", "<f4"), ("q", "i1", 256), ("bsums", "<i2", 16)]))
    q8_k["d"] = np.array([0.0123, -3.75, 1e-38, 0.0], np.float32)
    q8_k["q"] = rng.integers(-128, 128, (4, 256))
    q8_k["bsums"] = q8_k["q"].reshape(4, 16, 16).sum(2, dtype=np.int32)
    put("Q8_K", q8_k.view(np.uint8).reshape(-1), (q8_k["d"][:, None] * q8_k["q"]).reshape(-1), 256,
        q8_k.dtype.itemsize, 0)

    for name in LATER:
        put_weights(name)

    # a type that the package does not decode: a scale (f16), then a bit for each of 128 values that says its sign
    per_block, size = gguf.GGML_QUANT_SIZES[TYPE["Q1_0"]]
    q1_0 = rng.integers(0, 256, (8, size), dtype=np.uint8)
    q1_0[:, :2] = np.array(F16_SCALES, "<f2").view(np.uint8).reshape(8, 2)
    signs = np.unpackbits(q1_0[:, 2:], axis=1, bitorder="little").astype(np.float32) * 2 - 1
    scales = np.array(F16_SCALES, "<f2").astype(np.float32)[:, None]
    put("Q1_0", q1_0.reshape(-1), (scales * signs).reshape(-1), per_block, size, 0)

    lines = ",\n".join(json.dumps(i) for i in index)
    (HERE / "index.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
