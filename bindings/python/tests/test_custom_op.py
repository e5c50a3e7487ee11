"""Custom ops against NumPy: Python functions, and kernels on devices."""

import ctypes
import os

import numpy
import pytest

import runcible
from runcible import errors


def available(*names):
    devices = runcible.discover().devices
    return [name for name in names if any(d.backend == name and not d.reason for d in devices)]


HOSTS = ["cpu", "reference"]
GPUS = available("opencl", "vulkan")


def softsign(x, y, *, scale):
    numpy.divide(x, 1 + numpy.abs(x) * scale, out=y)


SOFTSIGN = dict(
    attributes="scale float",
    opencl_c="size_t i = get_global_id(0);\n"
    "if (i < x_elements) y[i] = x[i] / (1 + fabs(x[i]) * scale);",
    glsl="uint i = gl_GlobalInvocationID.x;\n"
    "if (i < x_elements) y[i] = x[i] / (1 + abs(x[i]) * scale);",
    grid="elements(x)",
)


@pytest.mark.parametrize("device", HOSTS + GPUS)
def test_softsign(device):
    op = runcible.custom_op("x F32 [...] -> y F32 [...]", softsign, **SOFTSIGN)
    backend = runcible.Backend(device, strict=device in GPUS)
    x = numpy.random.default_rng(1).standard_normal((7, 33)).astype("f4")
    y = op(runcible.Tensor(x, backend), scale=0.5)
    numpy.testing.assert_allclose(y.numpy(), x / (1 + abs(x) * 0.5), rtol=1e-5)
    with runcible.graph():
        t = runcible.Tensor(x, backend)
        y = op(t + t, scale=2).relu()
    expected = numpy.maximum(2 * x / (1 + abs(2 * x) * 2), 0)
    numpy.testing.assert_allclose(y.numpy(), expected, rtol=1e-5)


def test_a_c_function_computes():
    library = ctypes.CDLL(os.environ["RUNCIBLE_CUSTOM_OP"])
    address = ctypes.cast(library.softsign, ctypes.c_void_p).value
    op = runcible.custom_op(
        "x F32 [...] -> y F32 [...]",
        address,
        name="softsign",
        attributes="scale float",
        items="elements(x)",
    )
    x = numpy.random.default_rng(3).standard_normal((5, 70)).astype("f4")
    y = op(runcible.Tensor(x, runcible.Backend("cpu")), scale=0.5)
    numpy.testing.assert_allclose(y.numpy(), x / (1 + abs(x) * 0.5), rtol=1e-5)
    with pytest.raises(TypeError, match="items"):
        runcible.custom_op("x F32 [n] -> y F32 [n]", softsign, items="n")


@pytest.mark.parametrize("device", HOSTS + GPUS)
def test_a_function_may_return_its_results(device):
    op = runcible.custom_op(
        "x F32 [m, n], w F32|F64 [n, k] -> y w [m, k], place I32 [m]",
        lambda x, w, y, place: ((x @ w), x.argmax(-1)),
        name="project",
    )
    backend = runcible.Backend(device)
    random = numpy.random.default_rng(2)
    x = random.standard_normal((5, 8)).astype("f4")
    w = random.standard_normal((8, 3)).astype("f4")
    y, place = op(runcible.Tensor(x, backend), runcible.Tensor(w, backend))
    numpy.testing.assert_allclose(y.numpy(), x @ w, rtol=1e-5)
    assert y.shape == (5, 3)
    numpy.testing.assert_array_equal(place.numpy(), x.argmax(-1))
    if device == "cpu":
        y, _ = op(runcible.Tensor(x, backend), runcible.Tensor(w.astype("f8"), backend))
        assert y.dtype == "f64"


def test_invalid_ops_and_failing_functions_raise():
    backend = runcible.Backend("cpu")
    x = runcible.Tensor(numpy.ones(3, "f4"), backend)

    def fails(x, y):
        raise ZeroDivisionError("by nothing")

    with pytest.raises(errors.Error, match="by nothing"):
        runcible.custom_op("x F32 [n] -> y F32 [n]", fails)(x)
    kept = []
    op = runcible.custom_op("x F32 [n] -> y F32 [n]", lambda x, y: kept.append(x))
    with pytest.raises(errors.Error, match="kept a view"):
        op(x)
    op = runcible.custom_op("x F32 [n] -> y F32 [n]", lambda x, y: x[:2])
    with pytest.raises(errors.Error, match="shape"):
        op(x)
    op = runcible.custom_op("x F32 [n, n] -> y F32 [n]", lambda x, y: None, name="square")
    with pytest.raises(errors.InvalidArgumentError, match=r"square: x is F32 \[3\]"):
        op(x)
    with pytest.raises(TypeError, match="unknown: scale"):
        op(x, scale=1)
    with pytest.raises(TypeError, match="missing: scale"):
        runcible.custom_op("x F32 [n] -> y F32 [n]", softsign, attributes="scale float")(x)
    with pytest.raises(errors.InvalidArgumentError, match="signature"):
        runcible.custom_op("x F32 [n]", fails)
    with pytest.raises(errors.InvalidArgumentError, match="neither a function nor a kernel"):
        runcible.custom_op("x F32 [n] -> y F32 [n]")
    op.close()
    with pytest.raises(errors.ClosedError):
        op(x)


@pytest.mark.parametrize("device", GPUS)
def test_kernels_that_do_not_compile_raise(device):
    op = runcible.custom_op(
        "x F32 [n] -> y F32 [n]",
        name="broken",
        opencl_c="\ny[0] = nothing;",
        glsl="\ny[0] = nothing;",
        grid="n",
    )
    x = runcible.Tensor(numpy.ones(3, "f4"), runcible.Backend(device))
    with pytest.raises(errors.FormatError, match="broken:2:.*nothing"):
        op(x)
