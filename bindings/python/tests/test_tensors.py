"""Tensors compared with NumPy: shared memory, results into tensors, order."""

import gc
import threading
import weakref

import numpy
import pytest

import runcible


@pytest.fixture(scope="module", params=["cpu", "reference"])
def backend(request):
    return runcible.Backend(request.param)


def tensor(array, backend):
    return runcible.Tensor(numpy.asarray(array), backend)


RANDOM = numpy.random.default_rng(5)
A = RANDOM.integers(-9, 9, (4, 6, 5)).astype(numpy.float32)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_order_equals_that_of_numpy(backend, axis):
    x = tensor(A, backend)
    assert (x.sort(axis).numpy() == numpy.sort(A, axis)).all()
    places = numpy.argsort(A, axis, kind="stable")
    found = x.argsort(axis)
    assert found.dtype == "i32" and (found.numpy() == places).all()
    falling = numpy.argsort(-A, axis, kind="stable")
    assert (x.argsort(axis, descending=True).numpy() == falling).all()
    for k in (0, 1, 3, A.shape[axis]):
        first = numpy.take(falling, range(k), axis)
        assert (x.argtopk(k, axis).numpy() == first).all()
        largest = numpy.take_along_axis(A, first, axis)
        assert (x.topk(k, axis).numpy() == largest).all()
        assert (x.take_along(x.argtopk(k, axis), axis).numpy() == largest).all()
    numpy.testing.assert_allclose(
        x.cumsum(axis).numpy(), numpy.cumsum(A.astype(float), axis), rtol=1e-6
    )


def test_order_of_nan_equals_that_of_numpy(backend):
    array = numpy.array([2, numpy.nan, -numpy.inf, 0, -0.0], numpy.float32)
    x = tensor(array, backend)
    expected = numpy.sort(array)
    numpy.testing.assert_array_equal(x.sort().numpy(), expected)
    assert x.argsort().numpy().tolist() == [2, 3, 4, 0, 1]
    assert x.argtopk(2).numpy().tolist() == [1, 0]


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_pad_and_concat(backend, axis):
    x = tensor(A, backend)
    width = [(0, 0)] * 3
    width[axis] = (2, 3)
    assert (x.pad(axis, 2, 3).numpy() == numpy.pad(A, width)).all()
    padded = numpy.pad(A, width, constant_values=7)
    assert (x.pad(axis, 2, 3, 7).numpy() == padded).all()
    arrays = [A, A + 1, A * 2, numpy.take(A, [], axis)]
    found = runcible.Tensor.concat([tensor(a, backend) for a in arrays], axis)
    assert (found.numpy() == numpy.concatenate(arrays, axis)).all()
    integers = [numpy.arange(3, dtype=numpy.int64)] * 2
    joined = runcible.Tensor.concat([tensor(a, backend) for a in integers])
    assert joined.dtype == "i64"
    assert (joined.numpy() == numpy.concatenate(integers)).all()
    with pytest.raises(ValueError, match="concat"):
        runcible.Tensor.concat([x, tensor(A[:, :, :4], backend)], 0)
    with pytest.raises(ValueError):
        runcible.Tensor.concat([])


@pytest.mark.parametrize(
    "arguments", [(5,), (2, 7), (0, 1, 0.1), (5, -5, -3), (3, 3), (1, 0)]
)
@pytest.mark.parametrize("dtype", ["f32", "f64", "i32", "i64"])
def test_arange(backend, arguments, dtype):
    if dtype[0] == "i" and arguments[-1] == 0.1:
        return
    kind = numpy.dtype({"f": "float", "i": "int"}[dtype[0]] + dtype[1:])
    found = runcible.Tensor.arange(*arguments, backend=backend, dtype=dtype)
    assert found.dtype == dtype
    assert (found.numpy() == numpy.arange(*arguments).astype(kind)).all()


def test_into_writes_to_a_tensor(backend):
    x, y = tensor(A, backend), tensor(A + 1, backend)
    total = runcible.Tensor.zeros(A.shape, backend)
    found = x.into(total).add(y)
    assert (found.numpy() == A + (A + 1)).all()
    assert found.read() == total.read()
    # In place.
    x.into(x).mul(y)
    assert (x.numpy() == A * (A + 1)).all()
    with pytest.raises(ValueError, match=r"softmax: .*F32 \[4, 6, 5\]"):
        x.into(x).softmax()
    with pytest.raises(ValueError, match=r"F32 \[4, 6\], the target F32"):
        x.into(total).sum(-1)


def test_tensors_share_the_memory_of_arrays(backend):
    array = A.copy()
    x = runcible.Tensor(array, backend, copy=False)
    array[0] = 100
    assert (x.numpy() == array).all()
    x.into(x).neg()
    assert (array[0] == -100).all()
    # The memory is kept as long as a tensor needs it.
    lent = numpy.ones(4, numpy.float32)
    gone = weakref.ref(lent)
    y = runcible.Tensor(lent, backend, copy=False)
    part = y.slice(0, 1, 3)
    del lent, y
    gc.collect()
    assert gone() is not None
    assert part.numpy().tolist() == [1, 1]
    del part
    gc.collect()
    assert gone() is None


def test_memory_that_cannot_be_shared_is_refused(backend):
    read_only = numpy.frombuffer(bytes(16), numpy.float32)
    for array, why in (
        (A.T, "contiguous"),
        (read_only, "writable"),
        (A.astype(">f4"), "byte order"),
        (numpy.zeros(17, numpy.uint8)[1:].view(numpy.float32), "aligned"),
        ([1.0, 2.0], "list"),
    ):
        with pytest.raises(ValueError, match=why):
            runcible.Tensor(array, backend, copy=False)
    with pytest.raises(TypeError, match="complex"):
        runcible.Tensor(numpy.ones(2, complex), backend, copy=False)
    before = numpy.ones((1, 1, 1, 1, 1), numpy.float32)
    count = [weakref.ref(before)]
    with pytest.raises(ValueError):
        runcible.Tensor(before, backend, copy=False)
    del before
    gc.collect()
    assert count[0]() is None


def test_memory_may_be_released_on_other_threads(backend):
    tensors = [
        runcible.Tensor(numpy.ones(1000, numpy.float32), backend, copy=False)
        for _ in range(200)
    ]

    def use():
        while tensors:
            try:
                x = tensors.pop()
            except IndexError:
                return
            assert x.into(x).add(x).sum().numpy() == 2000

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_dlpack_shares_memory(backend):
    array = A.copy()
    x = runcible.from_dlpack(array, backend, copy=False)
    array[1] = 3
    assert (x.numpy() == array).all()
    copied = runcible.from_dlpack(array, backend, copy=True)
    array[1] = 4
    assert (copied.numpy()[1] == 3).all()
    assert (runcible.from_dlpack(array.T, backend).numpy() == array.T).all()
    with pytest.raises(ValueError, match="contiguous"):
        runcible.from_dlpack(array.T, backend, copy=False)
    assert x.__dlpack_device__() == (1, 0)
    assert (numpy.from_dlpack(x) == array).all()
    shared = numpy.from_dlpack(x)
    x.into(x).abs()
    assert (shared == numpy.abs(array)).all()
    assert (runcible.from_dlpack(x, backend).numpy() == array).all()
    packed = tensor(numpy.ones((1, 32)), backend).quantize("q8_0")
    assert (numpy.from_dlpack(packed) == packed.numpy()).all()
    with pytest.raises(BufferError, match="q8_0"):
        packed.__dlpack__(copy=False)
    with pytest.raises(BufferError, match="order"):
        x.transpose(0, 1).__dlpack__(copy=False)


def test_arrays_share_the_memory_of_tensors(backend):
    x = tensor(A, backend) + tensor(A, backend)
    array = x.numpy(copy=False)
    assert array.dtype == numpy.float32 and (array == 2 * A).all()
    array[0] = 5
    assert (x.numpy()[0] == 5).all()
    part = x.slice(0, 1, 2).numpy(copy=False)
    assert (part == 2 * A[1:2]).all()
    del x
    gc.collect()
    tensor(A, backend)  # Its memory is not reused.
    assert (array[1:] == 2 * A[1:]).all() and (part == 2 * A[1:2]).all()
    empty = tensor(numpy.zeros((0, 3), numpy.float32), backend)
    assert empty.numpy(copy=False).shape == (0, 3)
    assert numpy.asarray(empty).shape == (0, 3)
    with pytest.raises(ValueError, match="order"):
        tensor(A, backend).transpose(0, 1).numpy(copy=False)
    with pytest.raises(ValueError, match="outline"):
        runcible.Tensor.outline((2, 3), backend).numpy(copy=False)
    y = tensor(A, backend)
    if numpy.lib.NumpyVersion(numpy.__version__) >= "2.0.0":
        same = numpy.asarray(y, copy=False)
        y.into(y).neg()
        assert (same == -A).all()
        with pytest.raises(ValueError):
            numpy.asarray(y, dtype=numpy.float64, copy=False)


def test_float64_stays_float64(backend):
    a = RANDOM.standard_normal((5, 1, 7)) * 10.0 ** RANDOM.integers(-8, 9, (5, 1, 7))
    b = RANDOM.standard_normal((3, 1))
    x, y = tensor(a, backend), tensor(b, backend)
    assert x.dtype == "f64"
    for found, exact in (
        (x + y, a + b),
        (x * y, a * b),
        (x.div(y), a / b),
        (x.less(y), (a < b).astype(float)),
        (x.cumsum(2), numpy.cumsum(a, 2)),
        (x.sort(0), numpy.sort(a, 0)),
        (x.max(2), a.max(2)),
        (x.pad(1, 1, 2), numpy.pad(a, [(0, 0), (1, 2), (0, 0)])),
        (runcible.Tensor.concat([x, x], 1), numpy.concatenate([a, a], 1)),
        (x.slice(0, 1, 5, 2), a[1:5:2]),
    ):
        assert found.dtype == "f64"
        numpy.testing.assert_array_equal(found.numpy(), exact)
    m = RANDOM.integers(-(2**25), 2**25, (4, 6)).astype(float)
    n = RANDOM.integers(-(2**20), 2**20, (6, 3)).astype(float)
    product = (tensor(m, backend) @ tensor(n, backend)).numpy()
    assert product.dtype == numpy.float64 and (product == m @ n).all()
    single = m.astype(numpy.float32)
    mixed = tensor(m, backend) + tensor(single, backend)
    assert mixed.dtype == "f64" and (mixed.numpy() == m + single).all()
    back = numpy.from_dlpack(x)
    assert back.dtype == numpy.float64 and (back == a).all()
    again = runcible.from_dlpack(a.copy(), backend)
    assert again.dtype == "f64" and (again.numpy() == a).all()


def test_float16_stays_float16(backend):
    a = RANDOM.standard_normal((4, 33)).astype(numpy.float16)
    x = tensor(a, backend)
    found = (x + x).numpy()
    assert found.dtype == numpy.float16 and (found == a + a).all()
    exact = (a.astype(float) @ a.T.astype(float)).astype(numpy.float16)
    product = x.matmul_transposed(x).numpy()
    assert product.dtype == numpy.float16
    numpy.testing.assert_allclose(product, exact, rtol=1e-3, atol=1e-3)


def test_pinned_memory_is_an_array(backend):
    array = runcible.pinned((2, 3), backend, dtype="f64")
    assert array.shape == (2, 3) and array.dtype == numpy.float64
    assert (array == 0).all()
    array[:] = [[1, 2, 3], [4, 5, 6]]
    x = runcible.Tensor(array, backend)
    array[0, 0] = 9
    y = x + x
    assert y.numpy(out=array) is array and array.tolist() == [[2, 4, 6], [8, 10, 12]]
    with pytest.raises(ValueError, match="float32"):
        y.numpy(out=numpy.zeros((2, 3), numpy.float32))
    with pytest.raises(ValueError, match="vulkan:9"):
        runcible.pinned((1,), backend, device_id="vulkan:9")
    assert runcible.pinned((0, 4), backend).shape == (0, 4)
