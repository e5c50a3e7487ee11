"""Graphs: recorded, computed, computed again with other numbers."""

import gc
import threading

import numpy
import pytest

import runcible
from runcible import _handle


@pytest.fixture(scope="module")
def backend():
    return runcible.Backend("cpu")


def tensor(backend, *numbers):
    return runcible.Tensor(numpy.array(numbers, numpy.float32), backend)


def chain(x, y, scale):
    a = (x * scale + y).relu()
    b = a.tanh().sub(y)
    return a, b.softmax()


def test_a_graph_equals_its_ops_bitwise(backend):
    random = numpy.random.default_rng(1)
    x, y, x2 = (
        runcible.Tensor(
            random.standard_normal((300, 70), dtype=numpy.float32), backend
        )
        for _ in range(3)
    )
    scale = tensor(backend, 0.5)
    with runcible.graph() as graph:
        first, second = chain(x, y, scale)
        assert second.shape == (300, 70)
        assert second.dtype == "f32"
    for found, wanted in zip((first, second), chain(x, y, scale)):
        assert found.read() == wanted.read()
    assert (graph.info.inputs, graph.info.outputs) == (3, 2)
    again = graph.run({x: x2})
    assert set(again) == {first, second}
    for key, wanted in zip((first, second), chain(x2, y, scale)):
        assert again[key].read() == wanted.read()
    # Earlier results do not change.
    assert first.read() == chain(x, y, scale)[0].read()


def test_a_product_is_fused_with_the_ops_that_follow(backend):
    random = numpy.random.default_rng(2)
    x, w, bias = (
        runcible.Tensor(random.standard_normal(s, dtype=numpy.float32), backend)
        for s in ((4, 30), (30, 20), (20,))
    )
    with runcible.graph(backend):
        y = ((x @ w) + bias).gelu()
    assert y.read() == ((x @ w) + bias).gelu().read()


def test_unreferenced_tensors_are_not_computed(backend):
    x = tensor(backend, 1, 2)
    with runcible.graph() as graph:
        x.exp()
        y = x.neg()
    gc.collect()
    assert set(graph.run()) == {y}


def test_reading_within_the_block_computes(backend):
    x = tensor(backend, 1, -2)
    with runcible.graph() as graph:
        y = x.relu()
        assert y.numpy().tolist() == [1, 0]
        z = y + x
        del y
    assert z.numpy().tolist() == [2, -2]
    with pytest.raises(ValueError, match="numbers were read"):
        graph.run()


def test_the_op_reports_errors(backend):
    x, y = tensor(backend, 1, 2), tensor(backend, 1, 2, 3)
    with runcible.graph() as graph:
        with pytest.raises(runcible.errors.InvalidArgumentError, match=r"\[3\]"):
            x.add(y)
        z = x.neg()
    assert z.numpy().tolist() == [-1, -2]
    with pytest.raises(runcible.errors.InvalidArgumentError, match=r"\[3\]"):
        graph.run({x: y})
    with pytest.raises(ValueError, match="is not an input"):
        graph.run({z: x})
    with pytest.raises(ValueError, match="recorded once"):
        with graph:
            pass


def test_an_exception_leaves_nothing_recorded(backend):
    x = tensor(backend, 1, 2)
    y = None
    with pytest.raises(ZeroDivisionError):
        with runcible.graph() as graph:
            y = x.neg()
            1 / 0
    with pytest.raises(runcible.errors.ClosedError):
        y.read()
    with pytest.raises(ValueError, match="nothing was recorded"):
        graph.run()
    assert x.neg().numpy().tolist() == [-1, -2]


def test_graphs_do_not_nest(backend):
    with runcible.graph():
        with pytest.raises(ValueError, match="being recorded"):
            with runcible.graph():
                pass


def test_each_thread_records_separately(backend):
    x = tensor(backend, 1, 2)
    found = []

    def elsewhere():
        found.append(x.neg().numpy().tolist())

    with runcible.graph():
        y = x + x
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert found == [[-1, -2]]
    assert y.numpy().tolist() == [2, 4]


def test_cancelling_no_run_does_no_harm(backend):
    x = tensor(backend, 1, 2)
    with runcible.graph() as graph:
        y = x + x
    graph.cancel()  # no run is in flight
    assert graph.run()[y].numpy().tolist() == [2, 4]


def test_no_limit_ends_early():
    times = {0: 1, 0.0012: 2, 0.007: 7, 60: 60000}
    for seconds, milliseconds in times.items():
        assert _handle.milliseconds(seconds, "deadline") == milliseconds
