"""Embeddings of texts, and scores of documents, as NumPy arrays."""

from __future__ import annotations

import functools
import math
import threading
from typing import TYPE_CHECKING, Any, Callable, Iterable, Optional

from . import errors
from . import native as _native
from ._loops import loop_of, running

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, numpy.dtype[numpy.float32]]

#: How the rows of a text's tokens become one; "auto": the file's choice.
_POOLINGS = {"auto": 0, "mean": 1, "cls": 2, "last": 3}

# The interval of checks for signals while a thread waits.
_LOOK_MS = 100


class _Rows:
    """The owner of arrays that expose the numbers of an embedding."""

    __slots__ = ("__array_interface__", "_embedding")

    def __init__(self, embedding: Any) -> None:
        address, rows, columns = _native.embedding_rows(embedding)
        self._embedding = embedding
        self.__array_interface__ = {
            "shape": (rows, columns),
            "typestr": "=f4",
            "data": (address, True),  # read-only
            "version": 3,
        }


def _list_of(texts: Iterable[str], what: str) -> Any:
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"{what} must be a list of texts, not one text")
    made = _native.text_list()
    for text in texts:
        made.add(text)
    return made


def _milliseconds(deadline: Optional[float]) -> int:
    # Rounded up: the smallest deadline must not become 0.
    return 0 if deadline is None else math.ceil(deadline * 1000)


def start_embedding(
    model: Any,
    texts: Iterable[str],
    *,
    pooling: str = "auto",
    normalize: Optional[bool] = None,
    dimensions: int = 0,
    truncate: bool = False,
    prompt: Optional[str] = None,
    prompt_name: Optional[str] = None,
    priority: int = 0,
    deadline: Optional[float] = None,
) -> Any:
    if pooling not in _POOLINGS:
        raise ValueError(
            f"pooling is {pooling!r}; it must be one of {', '.join(_POOLINGS)}"
        )
    return _native.model_embed(
        model,
        _list_of(texts, "texts"),
        _POOLINGS[pooling],
        -1 if normalize is None else int(normalize),
        dimensions,
        int(truncate),
        prompt,
        prompt_name,
        priority,
        _milliseconds(deadline),
    )


def start_scores(
    model: Any,
    query: str,
    documents: Iterable[str],
    *,
    raw_scores: bool = False,
    truncate: bool = False,
    prompt: Optional[str] = None,
    priority: int = 0,
    deadline: Optional[float] = None,
) -> Any:
    return _native.model_rerank(
        model,
        query,
        _list_of(documents, "documents"),
        int(raw_scores),
        int(truncate),
        prompt,
        priority,
        _milliseconds(deadline),
    )


def _wait(embedding: Any) -> None:
    while True:
        try:
            _native.embedding_wait(embedding, _LOOK_MS)
            return
        except errors.WaitTimeoutError:
            continue


def rows_of(embedding: Any) -> Array:
    """Waits; an exception, such as that of Ctrl-C, cancels it."""
    import numpy

    try:
        _wait(embedding)
    except BaseException:
        _native.embedding_cancel(embedding)
        raise
    return numpy.asarray(_Rows(embedding))


async def rows_later(start: Callable[[], Any]) -> Array:
    """The same in threads while the event loop goes on; cancelling the task
    cancels it, also while the texts are still being passed on."""
    import numpy

    loop = loop_of(running())
    started: list[Any] = []
    cancelled = threading.Event()

    def begin() -> None:
        started.append(start())
        if cancelled.is_set():
            _native.embedding_cancel(started[0])

    try:
        await loop.call(begin, leave=True)
        await loop.call(functools.partial(_wait, started[0]), leave=True)
    except BaseException:
        cancelled.set()
        for embedding in started:
            _native.embedding_cancel(embedding)
        raise
    return numpy.asarray(_Rows(started[0]))
