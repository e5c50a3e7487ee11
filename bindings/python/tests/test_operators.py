"""Operators and frequent methods of tensors, which C implements, and the cases that
Python handles."""

import gc
import inspect
import operator
import threading
import weakref

import numpy
import pytest

import runcible
from runcible import errors

RANDOM = numpy.random.default_rng(7)
A = RANDOM.uniform(0.5, 4, (3, 4, 5)).astype(numpy.float32)
B = RANDOM.uniform(0.5, 4, (3, 4, 5)).astype(numpy.float32)


@pytest.fixture(scope="module", params=["cpu", "reference"])
def backend(request):
    return runcible.Backend(request.param)


def tensor(array, backend):
    return runcible.Tensor(numpy.asarray(array), backend)


def close(found, wanted):
    found = found.numpy()
    assert found.dtype == wanted.dtype
    numpy.testing.assert_allclose(found, wanted, rtol=2e-6)


OPERATORS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.pow,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
]


@pytest.mark.parametrize("of", OPERATORS, ids=lambda of: of.__name__)
@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
def test_operators_compute(backend, of, dtype):
    a, b = A.astype(dtype), B.astype(dtype)
    x = tensor(a, backend)
    for other in (b, b[0], b[:, :1], b[..., :1], a):
        close(of(x, tensor(other, backend)), of(a, other).astype(dtype))
        close(of(tensor(other, backend), x), of(other, a).astype(dtype))
    # Numbers, including whole ones, do not change the type.
    for number in (2, 1.5, -3, True):
        close(of(x, number), of(a, dtype(number)).astype(dtype))
        if number != -3 or of is not operator.pow:
            close(of(number, x), of(dtype(number), a).astype(dtype))


def test_unary_operators_compute(backend):
    x = tensor(A - 2, backend)
    close(-x, -(A - 2))
    close(abs(x), abs(A - 2))
    close(x.relu(), numpy.maximum(A - 2, 0))


def test_types_of_results(backend):
    for dtype, name in (
        ("f16", "f16"),
        ("bf16", "bf16"),
        ("f64", "f64"),
        ("f32", "f32"),
        ("i32", "f32"),
    ):
        x = tensor([1.0, 2.0], backend).quantize(dtype)
        for found in (x + x, x + 1, 1.5 * x, x < 2):
            assert found.dtype == name
        assert (x * 3).dequantize().numpy().tolist() == [3, 6]
    # These numbers are beyond the range of the type.
    assert (tensor([1.0], backend).quantize("f16") * 1e9).numpy()[0] == numpy.inf
    assert (tensor(numpy.float32([1]), backend) * -1e99).numpy()[0] == -numpy.inf
    with pytest.raises(OverflowError):
        tensor([1.0], backend) + 10**400


def test_frequent_methods_compute(backend):
    x, y = tensor(A, backend), tensor(B, backend)
    for found in (x.add(y), x.add(b=y), runcible.Tensor.add(x, y)):
        assert (found.numpy() == A + B).all()
    for found in (x.sum(1), x.sum(dimension=1), x.sum(-2)):
        numpy.testing.assert_allclose(found.numpy(), A.sum(1), rtol=1e-6)
    assert x.sum(1, keep=True).shape == (3, 1, 5)
    assert x.sum().shape == x.sum(None).shape == (1,)
    assert x.max(True).shape == (3, 5)
    assert x.softmax().read() == x.softmax(2).read() == x.softmax(dimension=-1).read()
    assert x.transpose().shape == (3, 5, 4)
    assert x.transpose(0).shape == (5, 4, 3)
    assert x.transpose(0, 1).shape == (4, 3, 5)
    assert (x @ y.transpose()).read() == x.matmul_transposed(y).read()


def test_errors_state_the_shapes(backend):
    x, y = tensor(A, backend), tensor(B[..., :2], backend)
    shapes = r"F32 \[3, 4, 5\].*F32 \[3, 4, 2\]"
    for wrong in (
        lambda: x + y,
        lambda: x.add(y),
        lambda: x.add(b=y),
        lambda: x < y,
        lambda: x @ x,
    ):
        with pytest.raises(errors.InvalidArgumentError, match=r"F32 \[3, 4, 5\]"):
            wrong()
    with pytest.raises(errors.InvalidArgumentError, match=shapes):
        x * y
    with pytest.raises(errors.InvalidArgumentError, match="dimension: 3"):
        x.sum(3)
    for wrong in (
        lambda: x + "1",
        lambda: [1] + x,
        lambda: 2 @ x,
        lambda: x @ 2,
        lambda: pow(x, 2, 3),
        lambda: x < None,
        lambda: x.add(2),
        lambda: x.add(),
        lambda: x.add(y, y),
        lambda: x.relu(1),
        lambda: x.sum(1.5),
        lambda: x.softmax("1"),
        lambda: runcible.Tensor.relu(A),
        lambda: x.sum(2**80),
    ):
        with pytest.raises((TypeError, OverflowError)):
            wrong()
    x.close()
    assert x.closed
    for wrong in (lambda: x + y, lambda: y + x, lambda: x + 1, x.relu, x.sum):
        with pytest.raises(errors.ClosedError):
            wrong()
    assert (y + y).shape == (3, 4, 2)


def test_identity_and_truth(backend):
    x, y = tensor(A, backend), tensor(A, backend)
    assert x == x and x != y and x != 1
    assert {x: 1, y: 2}[x] == 1 and len({x, y, x}) == 2
    assert tensor([3.0], backend) > 2
    assert not tensor([3.0], backend) > 4
    assert not tensor(numpy.zeros((1, 1)), backend)
    with pytest.raises(ValueError, match="60 elements"):
        bool(x < y)
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is None


def test_signatures():
    of = inspect.signature
    assert list(of(runcible.Tensor.add).parameters) == ["self", "b"]
    assert list(of(runcible.Tensor.sum).parameters) == ["self", "dimension", "keep"]
    assert of(runcible.Tensor.softmax).parameters["dimension"].default == -1
    assert "1 / (1 + exp(-x))" in runcible.Tensor.sigmoid.__doc__


def test_methods_of_a_subclass_are_called(backend):
    class Own(runcible.Tensor):
        def relu(self):
            return "mine"

    x = Own(A, backend)
    x.name = "x"
    assert x.relu() == "mine"
    for found in (x + x, x * 2, -x, x.sum(), x + tensor(A, backend)):
        assert type(found) is Own
    assert type(tensor(A, backend) + x) is runcible.Tensor
    assert ((x + x).numpy() == A + A).all()


def test_operators_are_recorded_in_graphs(backend):
    x, y = tensor(A, backend), tensor(B, backend)
    with runcible.graph() as graph:
        z = abs(-(x + y) * 2 - 1) / y
        less = x < z
    assert graph.info.inputs >= 2
    again = abs(-(x + y) * 2 - 1) / y
    assert z.read() == again.read()
    assert less.read() == (x < again).read()
    found = graph.run({x: y})[z]
    assert found.read() == (abs(-(y + y) * 2 - 1) / y).read()


def test_memory_is_freed(backend):
    x, y = tensor(A, backend), tensor(B[:2], backend)
    gc.collect()
    before = backend.usage.memory
    for _ in range(50):
        z = x + x
        z = (z * 2 - x).relu().sum(1)
        with pytest.raises(ValueError):
            x + y
    assert z.shape == (3, 5)
    del z
    gc.collect()
    assert backend.usage.memory == before


def test_closing_a_tensor_while_other_threads_compute_with_it(backend):
    """Closing a tensor does not take it from threads that compute with it."""
    large = numpy.ones(200_000, numpy.float32)
    failures = []
    shared = [tensor(large, backend), tensor(A, backend)]

    def compute():
        try:
            for _ in range(60):
                for x, value in zip(list(shared), (2, None)):
                    try:
                        z = x + x
                    except errors.ClosedError:
                        continue
                    if value is not None:
                        assert z.slice(0, 7, 8, 1).numpy()[0] == value
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=compute) for _ in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        old = list(shared)
        shared[:] = [tensor(large, backend), tensor(A, backend)]
        for each in old:
            each.close()
    for thread in threads:
        thread.join()
    assert not failures


def test_python_functions_get_the_lock():
    """Small ops hold the interpreter's lock, but not if others need it."""

    class Sums:
        capabilities = {"binary"}

        def compute(self, call):
            a, b = call.inputs
            call.outputs[0][...] = a + b

    runcible.register_backend("sums_of_operators", Sums)
    try:
        backend = runcible.Backend("sums_of_operators,cpu")
        x = tensor(A, backend)
        assert ((x + x).numpy() == A + A).all()
        assert ((x + x + x).numpy() == A + A + A).all()
        del x
        backend.close()
        gc.collect()
    finally:
        runcible.unregister_backend("sums_of_operators")
