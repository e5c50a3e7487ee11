"""Embeddings and scores, with models and rows of tests/golden/embeddings."""

import asyncio
import json
from pathlib import Path

import numpy
import pytest

import runcible
from runcible import errors

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


def test_arrays_show_memory_of_the_library_and_keep_it(model):
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


def test_models_that_generate_text():
    model = runcible.Model("builtin:fable", "cpu", output="hidden_rows")
    assert model.embed(["Once upon a time"]).shape == (1, 192)
    with pytest.raises(errors.UnsupportedError):
        model.session()


def test_a_deadline(model):
    with pytest.raises(errors.DeadlineError):
        model.embed(TEXTS * 20000, deadline=0.001)


def test_the_event_loop_goes_on_and_a_task_can_be_cancelled(model):
    async def run():
        first, second = await asyncio.gather(
            model.embed_async(TEXTS), model.embed_async(["a spoon"])
        )
        assert numpy.array_equal(first, model.embed(TEXTS))
        assert second.shape == (1, 32)
        task = asyncio.create_task(model.embed_async(TEXTS * 20000))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
