#!/usr/bin/env python3
"""A backend of three ops in NumPy; everything else runs on the CPU.

    python numpy_backend.py [PROMPT]
"""

import sys

import numpy

import runcible


def numbers_of(weight):
    """Decodes a weight to F32, also Q8_0: blocks of a scale and 32 numbers."""
    if weight.dtype.names is None:
        return weight
    blocks = weight["scale"].astype("f4")[..., None] * weight["numbers"]
    return blocks.reshape(*weight.shape[:-1], -1)


class NumPy:
    """See runcible.register_backend; the ops are those of plugin_ops.h."""

    capabilities = {
        "add": ("f32",),
        "rms_norm": ("f32",),
        "linear": ("f32", "q8_0"),
    }

    def health(self):
        return f"NumPy {numpy.__version__}"

    def add(self, a, b, out):
        numpy.add(a, b, out=out)

    def rms_norm(self, x, weight, out, *, epsilon):
        square = (x.astype("f8") ** 2).mean(-1, keepdims=True)
        out[...] = x / numpy.sqrt(square + epsilon) * weight

    def linear(self, x, weight, bias, residual, out):
        product = x @ numbers_of(weight).T
        if bias is not None:
            product += bias
        if residual is not None:  # may be the memory of out
            product += residual
        out[...] = product


def main():
    runcible.register_backend("numpy", NumPy)
    model = runcible.Model("builtin:fable", "numpy,cpu")
    prompt = " ".join(sys.argv[1:]) or "Once upon a time"
    print(prompt, end="")
    for piece in model.session().generate(prompt, max_tokens=200):
        print(piece, end="", flush=True)
    print()


if __name__ == "__main__":
    main()
