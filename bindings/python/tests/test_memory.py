"""Models from memory, and plans of models without a file."""

import asyncio
import gc
import mmap
import pathlib
import weakref

import numpy
import pytest

import runcible
from runcible import errors

GOLDEN = pathlib.Path(__file__).parents[3] / "tests/golden/architectures"
FILE = GOLDEN / "llama2.gguf"


def logits(model):
    session = model.session()
    session.append([1, 5, 9])
    session.decode()
    return numpy.array(session.logits())


@pytest.fixture(scope="module")
def expected():
    return logits(runcible.Model(FILE, "reference"))


def test_any_buffer_can_be_loaded(expected):
    data = FILE.read_bytes()
    with open(FILE, "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    for given in (
        data,
        bytearray(data),
        memoryview(data),
        numpy.frombuffer(data, dtype=numpy.uint8),
        mapped,
    ):
        model = runcible.Model.from_bytes(given, "reference")
        assert (logits(model) == expected).all()


def test_a_cpu_computes_from_the_memory(expected):
    data = FILE.read_bytes()
    model = runcible.Model.from_bytes(data, "cpu", keep_mapped=True)
    del data
    gc.collect()
    copied = runcible.Model(FILE, "cpu")
    assert (logits(model) == logits(copied)).all()
    assert model.report.weight_bytes < copied.report.weight_bytes


def test_the_memory_is_held_as_long_as_the_model():
    array = numpy.frombuffer(FILE.read_bytes(), dtype=numpy.uint8).copy()
    held = weakref.ref(array)
    model = runcible.Model.from_bytes(array, "reference")
    del array
    gc.collect()
    assert held() is not None
    model.close()
    del model
    gc.collect()
    assert held() is None


def test_a_bytearray_cannot_shrink_meanwhile():
    data = bytearray(FILE.read_bytes())
    model = runcible.Model.from_bytes(data, "reference")
    with pytest.raises(BufferError):
        data.clear()
    model.close()


def test_bytes_load_on_an_event_loop(expected):
    async def load():
        return await runcible.Model.load_bytes(FILE.read_bytes(), "reference")

    assert (logits(asyncio.run(load())) == expected).all()


def test_failures_name_the_memory():
    with pytest.raises(errors.FormatError, match="^memory: "):
        runcible.Model.from_bytes(b"GGUF", "reference")
    with pytest.raises(errors.FormatError, match="^weights.bin: "):
        runcible.Model.from_bytes(b"x" * 99, "reference", name="weights.bin")
    with pytest.raises(TypeError):
        runcible.Model.from_bytes("text", "reference")


def test_estimates_equal_plans():
    known = {
        "architecture": "llama",
        "vocab_size": 300,
        "context_length": 64,
        "block_count": 2,
        "embedding_length": 64,
        "feed_forward_length": 128,
        "attention.head_count": 4,
        "attention.layer_norm_rms_epsilon": 1e-5,
    }
    whole = runcible.estimate(known, "F32", "reference")
    half = runcible.estimate(known, "F16", "reference")
    matrices = 300 * 64 + 2 * (4 * 64 * 64 + 3 * 64 * 128)
    assert whole.weights - half.weights == 2 * matrices
    with pytest.raises(errors.Error, match="architecture"):
        runcible.estimate({}, backend="reference")
