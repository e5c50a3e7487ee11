"""A custom op: silu(x) times a gate, which many models compute between two
products, as one op of a graph:

    python silu_gate.py
"""

import numpy

import runcible


def silu_gate(x, gate, y):
    """Computes on NumPy arrays; the last is for the result."""
    numpy.multiply(x / (1 + numpy.exp(-x)), gate, out=y)


# All three have the same shape, which may be any.
op = runcible.custom_op(
    "x F32 [...], gate F32 [...] -> y F32 [...]", silu_gate, name="silu_gate"
)
backend = runcible.Backend("cpu")
x = runcible.Tensor(numpy.float32([-1, 0, 1, 2]), backend)
gate = runcible.Tensor(numpy.float32([2, 2, 2, 0.5]), backend)
# Recorded once, and run with any numbers of these shapes.
with runcible.graph(backend) as graph:
    total = op(x, gate) + x
for y in graph.run({x: x, gate: gate})[total].numpy():
    print(f"{y:.4f}")
