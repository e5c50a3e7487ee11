"""Embeddings and scores, with models and rows of tests/golden/embeddings."""

import asyncio
import json
import threading
from pathlib import Path

import numpy
import pytest
import trio

import runcible
from runcible import errors
from runcible.embedding import _wait, rows_later, start_embedding

FOLDER = Path(__file__).resolve().parents[3] / "tests/golden/embeddings"
ABOUT = json.loads((FOLDER / "texts.json").read_text())
TEXTS = ABOUT["texts"]


def golden(name):
    return numpy.fromfile(FOLDER / f"{name}.f32", dtype="<f4")


@pytest.fixture(scope="module")
def model():
    return runcible.Model(FOLDER / "bert-mean", "cpu")


def test_rows_are_those_of_sentence_transformers(model):
    expected = golden("bert-mean").reshape(2, len(TEXTS), -1)
    rows = model.embed(TEXTS)
    assert rows.dtype == numpy.float32 and rows.shape == expected[0].shape
    assert numpy.abs(rows - expected[0]).max() < 2e-3
    with_prompt = model.embed(TEXTS, prompt_name="query")
    assert numpy.abs(with_prompt - expected[1]).max() < 2e-3


def test_arrays_expose_memory_of_the_library_and_keep_it(model):
    rows = model.embed(["a spoon"])
    assert not rows.flags.owndata and not rows.flags.writeable
    kept = rows[0, :3]
    del rows
    assert numpy.array_equal(kept, model.embed(["a spoon"])[0, :3])


def test_options(model):
    row = model.embed(["a spoon"], pooling="cls", normalize=False)
    assert numpy.array_equal(
        model.embed(
            ["spoon"], pooling="cls", normalize=False, dimensions=4, prompt="a "
        ),
        row[:, :4],
    )
    with pytest.raises(ValueError, match="pooling"):
        model.embed(["a"], pooling="max")
    with pytest.raises(TypeError, match="list of texts"):
        model.embed("a spoon")
    with pytest.raises(errors.InvalidArgumentError):
        model.embed([])
    with pytest.raises(errors.ContextFullError, match="text 1"):
        model.embed(["a", "spoon " * 100])
    assert model.embed(["spoon " * 100], truncate=True).shape == row.shape


def test_scores():
    model = runcible.Model(FOLDER / "bert-cross", "cpu")
    scores = model.rerank(ABOUT["query"], TEXTS)
    assert numpy.abs(scores - golden("bert-cross")).max() < 2e-3
    raw = model.rerank(ABOUT["query"], TEXTS, raw_scores=True)
    assert numpy.allclose(1 / (1 + numpy.exp(-raw)), scores, atol=1e-6)


def test_models_that_generate_text_embed():
    model = runcible.Model("builtin:fable", "cpu", output="hidden_rows")
    assert model.embed(["Once upon a time"]).shape == (1, 192)
    with pytest.raises(errors.UnsupportedError):
        model.session()


def test_a_deadline_ends_embedding(model):
    with pytest.raises(errors.DeadlineError):
        model.embed(TEXTS * 20000, deadline=0.001)


def test_the_event_loop_goes_on_and_a_task_can_be_cancelled(model):
    async def run():
        first, second = await asyncio.gather(
            model.embed_async(TEXTS), model.embed_async(["a spoon"])
        )
        assert numpy.array_equal(first, model.embed(TEXTS))
        assert second.shape == (1, 32)
        started = Started(model)
        task = asyncio.create_task(rows_later(started.start))
        await asyncio.to_thread(started.made.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        started.assert_cancelled()

    asyncio.run(run())


def test_a_task_can_be_cancelled_while_texts_are_passed_on(model):
    async def run():
        started = Started(model)
        started.may_start.clear()
        task = asyncio.create_task(rows_later(started.start))
        await asyncio.to_thread(started.begun.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        started.may_start.set()
        await asyncio.to_thread(started.made.wait)
        started.assert_cancelled()

    asyncio.run(run())


@pytest.mark.parametrize("passed_on", [False, True])
def test_cancelling_in_trio(model, passed_on):
    started = Started(model)

    async def run():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(rows_later, started.start)
            until = started.made if passed_on else started.begun
            await trio.to_thread.run_sync(until.wait)
            nursery.cancel_scope.cancel()

    if not passed_on:
        started.may_start.clear()
    trio.run(run)
    started.may_start.set()
    started.made.wait()
    started.assert_cancelled()


class Started:
    """Starts with texts that would take minutes, and keeps the embedding."""

    def __init__(self, model):
        self._model = model
        self._embedding = None
        self.begun, self.made = threading.Event(), threading.Event()
        self.may_start = threading.Event()
        self.may_start.set()

    def start(self):
        self.begun.set()
        self.may_start.wait()
        self._embedding = start_embedding(self._model._handle, TEXTS * 20000)
        self.made.set()
        return self._embedding

    def assert_cancelled(self):
        with pytest.raises(errors.CancelledError):
            _wait(self._embedding)
