"""A custom op on a GPU: silu(x) times a gate, as the body of a kernel in OpenCL C,
and the same in GLSL for Vulkan:

    python silu_gate_kernel.py [BACKEND]
"""

import sys

import numpy

import runcible

# One thread for each element. The library defines the names of the signature around
# the body: arrays, and y_elements, the number of elements of y.
op = runcible.custom_op(
    "x F32 [...], gate F32 [...] -> y F32 [...]",
    name="silu_gate",
    opencl_c="""
        size_t i = get_global_id(0);
        if (i < y_elements) y[i] = x[i] / (1 + exp(-x[i])) * gate[i];
    """,
    glsl="""
        uint i = gl_GlobalInvocationID.x;
        if (i < y_elements) y[i] = x[i] / (1 + exp(-x[i])) * gate[i];
    """,
    grid="elements(y)",
)
backend = runcible.Backend(sys.argv[1] if len(sys.argv) > 1 else "opencl,vulkan")
x = runcible.Tensor(numpy.float32([-1, 0, 1, 2]), backend)
gate = runcible.Tensor(numpy.float32([2, 2, 2, 0.5]), backend)
with runcible.graph(backend) as graph:
    total = op(x, gate) + x
for y in graph.run({x: x, gate: gate})[total].numpy():
    print(f"{y:.4f}")
