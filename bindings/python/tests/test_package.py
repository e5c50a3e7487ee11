"""The package's API, besides the cases of all languages."""

import gc
import os
import subprocess
import sys

import numpy
import pytest

import runcible
from runcible import errors


@pytest.fixture(scope="module")
def backend():
    return runcible.Backend("cpu")


@pytest.fixture(scope="module")
def model(backend):
    return runcible.Model("builtin:fable", backend)


def test_a_plan_offers_options():
    small = runcible.Backend("cpu", memory_limit=4500000)
    plan = runcible.plan("builtin:fable", small, context_length=64)
    offers = {offer.option: offer for offer in plan.offers}
    assert str(offers["quantize"].total) in offers["quantize"].summary


def test_the_caller_owns_logits(model):
    session = model.session()
    session.append("Once")
    session.decode()
    before = session.logits()
    copy = before.copy()
    session.append(" upon")
    session.decode()
    assert (before == copy).all()
    assert (session.logits() != before).any()
    session.close()
    before[0, 0] = 1  # writable, and still valid


def test_arrays_over_logits_keep_the_session(model):
    session = model.session()
    session.append("Once upon")
    session.decode(all_logits=True)
    lent = session.logits(copy=False)
    assert (lent == session.logits()).all()
    with pytest.raises(ValueError, match="read-only"):
        lent[0, 0] = 1
    again = session.logits(copy=False)
    assert numpy.shares_memory(lent, again)
    row = lent[-1]
    del lent, again
    session.append([5])
    for use in (
        session.decode,
        lambda: session.generate("A"),
        lambda: session.stream("A"),
    ):
        with pytest.raises(BufferError, match="delete them"):
            use()
    with pytest.raises(errors.NotFoundError):
        session.logits(copy=False)
    del row
    session.decode()
    row = session.logits(copy=False)[0]
    copy = row.copy()
    session.close()  # the array keeps the memory that it exposes
    del session
    gc.collect()
    assert (row == copy).all()


def test_tensors_become_arrays_and_back(backend):
    a = numpy.random.default_rng(1).standard_normal((4, 3)).astype(numpy.float32)
    x = runcible.Tensor(a, backend)
    assert (numpy.from_dlpack(x) == a).all()
    assert (numpy.asarray(x) == a).all()

    class Foreign:
        """Supports DLPack and nothing else."""

        def __dlpack__(self, **options):
            return a.__dlpack__(**options)

        def __dlpack_device__(self):
            return a.__dlpack_device__()

    assert (runcible.Tensor(Foreign(), backend).numpy() == a).all()


def test_tensors_have_other_types(backend):
    half = runcible.Tensor(numpy.ones((2, 2), numpy.float16), backend)
    assert half.dtype == "f16" and half.nbytes == 8
    assert half.numpy().dtype == numpy.float16
    big = numpy.arange(4, dtype=">f4")
    assert runcible.Tensor(big, backend).numpy().tolist() == [0, 1, 2, 3]
    turned = numpy.arange(6, dtype=numpy.float32).reshape(2, 3).T
    assert (runcible.Tensor(turned, backend).numpy() == turned).all()
    packed = runcible.Tensor(numpy.ones((1, 32)), backend, dtype="q8_0")
    assert packed.dtype == "q8_0" and packed.nbytes == 34
    again = runcible.Tensor.from_bytes(
        bytes(packed.read()), (1, 32), "q8_0", backend
    )
    numpy.testing.assert_allclose(again.numpy(), 1, rtol=1e-2)
    with pytest.raises(TypeError, match="complex"):
        runcible.Tensor(numpy.ones(2, complex), backend)
    with pytest.raises(ValueError):
        runcible.Tensor(numpy.ones((1, 1, 1, 1, 1)), backend)
    with pytest.raises(ValueError, match="q9"):
        half.quantize("q9")


def test_tensors_move_between_devices(backend):
    x = runcible.Tensor.from_bytes(bytes(16), (2, 2), "f32", backend)
    assert x.to().device == x.device
    with runcible.Backend("reference") as other:
        moved = x.to(backend=other)
        assert moved.device == "reference:0"
        assert moved.read() == x.read()
        assert x.to("reference", other).device == "reference:0"
    with pytest.raises(ValueError, match="vulkan:77"):
        x.to("vulkan:77")
    with pytest.raises(TypeError, match="backend"):
        x.to(backend="cpu")


def test_outlines_have_choices_but_no_numbers(backend):
    x = runcible.Tensor.outline((2, 3), backend)
    choice = (x + x).choice()
    assert choice["op"] == "BINARY"
    assert choice["device"] in [each["device"] for each in choice["candidates"]]
    with pytest.raises(ValueError, match="outline"):
        x.read()
    with pytest.raises(ValueError, match="outline"):
        runcible.Tensor.from_bytes(bytes(4), (1,), "f32", backend).choice()


def test_docstrings_are_those_of_the_headers():
    assert "FormatError" in runcible.Model.__doc__
    assert "context_length" in runcible.Model.__doc__
    assert "BusyError" in runcible.Session.append.__doc__
    assert "[..., m, n]" in runcible.Tensor.matmul.__doc__
    for kind in vars(runcible.errors).values():
        if isinstance(kind, type) and issubclass(kind, runcible.Error):
            assert kind.__doc__


def test_the_command_runs():
    result = subprocess.run(
        [sys.executable, "-m", "runcible", "run", "-n", "5", "--seed", "1"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "RUNCIBLE_BACKEND": "cpu"},
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()
