#!/usr/bin/env python3
"""What NumPy computes in float64 and float16, for tests/api/tensor_golden_test.cc.

    python3 tests/golden/tensors/make.py     # writes cases.json beside it

Needs NumPy (made with 2.x). Numbers are written with all their digits. Sums are
math.fsum's, which rounds once; float16 results are of float32, rounded once more.
"tolerance" is relative; 0 where IEEE 754 leaves no choice.
"""

import json
import math
import pathlib

import numpy as np

RANDOM = np.random.default_rng(20)
TYPES = {"float64": 28, "float32": 0, "float16": 1, "int32": 26, "int64": 27,
         "int8": 24, "int16": 25}
CASES = []
#: Of functions of a C library, which may be off by a few units.
FUNCTIONS = 4e-15


def tensor(array):
    array = np.asarray(array)
    return {"dtype": TYPES[array.dtype.name], "shape": list(array.shape),
            "data": [float(x) if array.dtype.kind == "f" else int(x)
                     for x in array.ravel()]}


def case(op, inputs, expected, tolerance=0.0, **parameters):
    CASES.append({"op": op, "inputs": [tensor(x) for x in inputs],
                  "expected": tensor(expected), "tolerance": tolerance,
                  **parameters})


def numbers(*shape):
    """Of many sizes, which F32 would round."""
    return RANDOM.standard_normal(shape) * 10.0 ** RANDOM.integers(-3, 4, shape)


A = numbers(3, 4, 5)
B = numbers(4, 1)
P = np.abs(numbers(2, 37)) + 1e-3
SMALL = RANDOM.standard_normal((2, 37)) * 3

for name, function in {"exp": np.exp, "tanh": np.tanh,
                       "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
                       "silu": lambda x: x / (1 + np.exp(-x)),
                       "relu": lambda x: np.maximum(x, 0),
                       "gelu": lambda x: np.vectorize(
                           lambda u: 0.5 * u * math.erfc(-u / math.sqrt(2)))(x),
                       }.items():
    case(name, [SMALL], function(SMALL), 0.0 if name == "relu" else FUNCTIONS)
case("log", [P], np.log(P), FUNCTIONS)
case("sqrt", [P], np.sqrt(P))
case("abs", [A], np.abs(A))
case("neg", [A], -A)
for name, function in {"add": np.add, "sub": np.subtract, "mul": np.multiply,
                       "div": np.divide, "minimum": np.minimum,
                       "maximum": np.maximum}.items():
    case(name, [A, B], function(A, B))
    case(name, [B, A], function(B, A))
    half_a = (A / 99).astype(np.float16)
    half_b = np.maximum(np.abs(B / 99), 0.01).astype(np.float16)
    case(name, [half_a, half_b],
         function(half_a.astype(np.float32),
                  half_b.astype(np.float32)).astype(np.float16))
case("pow", [P, SMALL[:1]], np.power(P, SMALL[:1]), FUNCTIONS)
NEAR = A + np.where(RANDOM.random(A.shape) < 0.5, 0, np.spacing(A))
for name, function in {"equal": np.equal, "not_equal": np.not_equal,
                       "less": np.less, "less_equal": np.less_equal,
                       "greater": np.greater,
                       "greater_equal": np.greater_equal}.items():
    case(name, [A, NEAR], function(A, NEAR).astype(np.float64))
CONDITION = np.where(RANDOM.random(A.shape) < 0.5, 0.0, 1e-300)
case("where", [CONDITION, A, B], np.where(CONDITION != 0, A, B))
# Numbers that F32 and F16 round to 0 are none.
case("where", [CONDITION, A.astype(np.float32), B.astype(np.float32)],
     np.where(CONDITION != 0, A.astype(np.float32), B.astype(np.float32)))
case("where", [CONDITION, A.astype(np.float16), B.astype(np.float16)],
     np.where(CONDITION != 0, A.astype(np.float16), B.astype(np.float16)))
# Other types next to F64.
for other in (np.float32, np.float16, np.int32, np.int8):
    C = (RANDOM.standard_normal((4, 5)) * 50).astype(other)
    case("mul", [A, C], A * C.astype(np.float64))
WIDE = np.array([2**53 + 1, -2**53 - 3, 2**62 + 12345, 7], np.int64)
case("add", [WIDE, np.zeros(4)], WIDE.astype(np.float64))

LONG = numbers(2, 300)
CANCELS = np.concatenate([numbers(200) * 1e12, [0.1, 0.2]])
CANCELS = np.concatenate([CANCELS, -CANCELS[:200]])
for axis in (0, 1, 2):
    sums = np.apply_along_axis(math.fsum, axis, A)
    case("sum", [A], sums, dimension=axis)
    case("mean", [A], sums / A.shape[axis], 1.2e-16, dimension=axis)
    case("max", [A], A.max(axis), dimension=axis)
    case("argmax", [A], A.argmax(axis).astype(np.int32), dimension=axis)
    case("cumsum", [A], np.cumsum(A, axis), dimension=axis)
    case("sort", [A], np.sort(A, axis), dimension=axis)
    case("argsort", [NEAR], np.argsort(NEAR, axis, kind="stable")
         .astype(np.int32), dimension=axis)
    case("topk", [A], -np.sort(-A, axis).take(range(2), axis), dimension=axis,
         k=2)
    shifted = np.exp(A / 100 - (A / 100).max(axis, keepdims=True))
    case("softmax", [A / 100], shifted / shifted.sum(axis, keepdims=True),
         FUNCTIONS, dimension=axis)
case("sum", [LONG], np.array([math.fsum(row) for row in LONG]), dimension=1)
case("cumsum", [LONG], np.cumsum(LONG, 1), dimension=1)
case("sum", [CANCELS], np.array([math.fsum(CANCELS)]), 1e-12, dimension=0)

# Whole numbers, beyond what F32 holds, have one product.
M = RANDOM.integers(-2**24, 2**24, (2, 9, 33)).astype(np.float64)
N = RANDOM.integers(-2**20, 2**20, (33, 21)).astype(np.float64)
case("matmul", [M, N], M @ N)
case("matmul_transposed", [M, np.ascontiguousarray(N.T)], M @ N)
HALF_M = RANDOM.integers(-9, 9, (7, 40)).astype(np.float16)
HALF_N = RANDOM.integers(-9, 9, (40, 19)).astype(np.float16)
case("matmul", [HALF_M, HALF_N],
     (HALF_M.astype(np.float64) @ HALF_N.astype(np.float64))
     .astype(np.float16))

# One rounding each way.
EDGES = np.array([1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-40, 65519.99999, 65520,
                  2.0**-25, 2.0**-25 + 2.0**-60, -5.9e-8, 0.1, 1e300, -1e-300,
                  1 + 2.0**-24 + 2.0**-50, 3e9, -3e9, 127.5, -128.5, 2.0**62])
with np.errstate(all="ignore"):
    for kind in (np.float32, np.float16):
        finite = EDGES[np.abs(EDGES) < 65520]
        case("quantize", [finite], finite.astype(kind))
for kind in (np.int8, np.int16, np.int32, np.int64):
    limits = np.iinfo(kind)
    clipped = [min(max(round(float(x)), limits.min), limits.max) for x in EDGES]
    case("quantize", [EDGES], np.array(clipped, kind))
case("quantize", [np.array([2**31 - 1, -2**31, 16777217], np.int32)],
     np.array([2**31 - 1, -2**31, 16777217], np.int64))
case("pad", [A], np.pad(A, [(0, 0), (2, 1), (0, 0)], constant_values=0.5),
     dimension=1, before=2, after=1, value=0.5)
case("pad", [A.astype(np.float16)],
     np.pad(A.astype(np.float16), [(0, 0), (0, 0), (1, 3)]), dimension=2,
     before=1, after=3, value=0.0)
case("concat", [A, A + 1], np.concatenate([A, A + 1], 1), dimension=1)
IDS = np.array([2, 0, 2], np.int32)
case("gather_rows", [A[0], IDS], A[0][IDS])
case("gather_rows", [A[0].astype(np.float16), IDS],
     A[0].astype(np.float16)[IDS])

path = pathlib.Path(__file__).with_name("cases.json")
path.write_text("[\n" + ",\n".join(json.dumps(each) for each in CASES) + "\n]\n")
