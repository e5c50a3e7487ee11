"""Models on a device."""

from __future__ import annotations

import functools
import json
import os
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    Optional,
    Sequence,
    Union,
)

from . import native as _native
from . import reports
from ._handle import ModelHandle, Path, set_options
from ._native import engine_begins
from ._loops import loop_of, running
from ._progress import load_progress
from .backend import Backend, backend_of
from .embedding import rows_later, rows_of, start_embedding, start_scores
from .hub import fetch
from .reports import Plan, plan_of
from .session import Session
from .tokenizer import Tokenizer

if TYPE_CHECKING:
    from .embedding import Array

#: Receives the fraction done; True shows a bar if tqdm is installed.
Progress = Union[Callable[[float], object], bool, None]


class _Lent:
    """Memory of a buffer that is held."""

    __slots__ = ("holder", "memory", "name")

    def __init__(self, data: Any, name: str) -> None:
        import numpy

        # An array holds the buffer, so that it can neither move nor shrink.
        self.holder = numpy.frombuffer(data, dtype=numpy.uint8)
        address = self.holder.__array_interface__["data"][0]
        self.memory = (address, self.holder.nbytes)
        self.name = name


class Model(ModelHandle):
    # :header: rc_model rc_model_load rc_model_options
    __slots__ = ("_backend", "_tokenizer")

    def __init__(
        self,
        path: Union[Path, _Lent],
        backend: Union[Backend, str, None] = None,
        *,
        # :api: keywords rc_model_options
        progress: Progress = None,
    ) -> None:
        options = set_options(
            _native.model_options(),
            # :api: values rc_model_options
        )
        self._backend = backend_of(backend)
        self._tokenizer: Optional[Tokenizer] = None
        engine_begins()
        with load_progress(progress) as report:
            # `report` keeps it alive as long as the call may need it.
            options.set_progress(report)
            if isinstance(path, _Lent):
                self._proxy = _native.model_load_lent(
                    self._backend._handle,
                    path.memory,
                    path.name,
                    options,
                    path.holder,
                )
            else:
                self._proxy = _native.model_load(
                    self._backend._handle, os.fsencode(path), options
                )

    @classmethod
    def from_bytes(
        cls,
        data: Any,
        backend: Union[Backend, str, None] = None,
        *,
        name: str = "memory",
        **options: Any,
    ) -> Model:
        """Loads a GGUF file from memory: bytes, a bytearray, a memoryview, a NumPy
        array, a mapped file, or any other object with a contiguous buffer.

        Only data that goes to the device is copied: the model keeps the object,
        which must not be changed meanwhile. With keep_mapped=True a CPU computes
        from its bytes. `name` is its name in messages. The other keywords are those
        of the class:

        # :api: described rc_model_options
        """
        return cls(_Lent(data, name), backend, **options)

    @classmethod
    async def load_bytes(
        cls,
        data: Any,
        backend: Union[Backend, str, None] = None,
        *,
        name: str = "memory",
        progress: Optional[Callable[[float], object]] = None,
        **options: Any,
    ) -> Model:
        """The same as from_bytes in a thread while the event loop goes on; see
        load. `name` is the same; `progress` is called on the event loop.

        # :api: described rc_model_options
        """
        lent = _Lent(data, name)
        load = functools.partial(cls, lent, backend, **options)
        return await loop_of(running()).load(load, progress)

    @classmethod
    async def load(
        cls,
        path: Path,
        backend: Union[Backend, str, None] = None,
        *,
        progress: Optional[Callable[[float], object]] = None,
        **options: Any,
    ) -> Model:
        """Loads in a thread while the event loop goes on.

        The keywords are those of the class; `progress` is called on the event
        loop. Cancelling the task that waits cancels the load.

        # :api: described rc_model_options
        """
        load = functools.partial(cls, path, backend, **options)
        return await loop_of(running()).load(load, progress)

    @classmethod
    def from_hub(
        cls,
        source: str,
        backend: Union[Backend, str, None] = None,
        *,
        revision: str = "",
        cache: str = "",
        **options: Any,
    ) -> Model:
        """Fetches the missing files of a model on a hub, and loads it.

        The source is "OWNER/NAME", "OWNER/NAME:FILE" or "OWNER/NAME:Q4_K_M",
        with or without "hf:" before it; see fetch, also for `revision` and
        `cache`. The other keywords are those of the class:

        # :api: described rc_model_options
        """
        if not source.startswith("hf:"):
            source = "hf:" + source
        path = fetch(source, revision=revision, cache=cache)
        return cls(path, backend, **options)

    @property
    def backend(self) -> Backend:
        """The backend that the model was loaded through."""
        return self._backend

    # :api: methods rc_model

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer; UnsupportedError if it has none."""
        proxy = self._handle
        if self._tokenizer is None:
            self._tokenizer = Tokenizer._of(_native.model_get_tokenizer(proxy))
        return self._tokenizer

    def tokenize(
        self,
        text: Union[str, bytes],
        *,
        add_special: bool = True,
        parse_special: bool = False,
    ) -> List[int]:
        """Turns text into tokens.

        # :api: said rc_tokenize

        add_special: Whether the special tokens that the model requires around a
        text, such as BOS, are added.

        parse_special: Whether names of special tokens in the text become these
        tokens.
        """
        return self.tokenizer.tokenize(
            text, add_special=add_special, parse_special=parse_special
        )

    def detokenize(
        self, tokens: Sequence[int], *, special: bool = False
    ) -> str:
        # :header: rc_detokenize
        return self.tokenizer.detokenize(tokens, special=special)

    @property
    def metadata(self) -> Dict[str, Any]:
        """The metadata of the model's file: numbers, texts and lists."""
        info = _native.model_get_info(self._handle)
        metadata = {}
        for i in range(_native.model_info_metadata_count(info)):
            key, _ = _native.model_info_metadata(info, i)
            metadata[key] = json.loads(_native.model_info_value(info, key, 0))
        return metadata

    def embed(self, texts: Iterable[str], **options: Any) -> Array:
        """Returns embeddings of texts, one row for each: a float32 array [texts,
        dimensions] over memory of the library, read-only.

        Models that generate text give embeddings if they were loaded with
        output="hidden_rows". The options, by name:

        # :api: described rc_embed_options
        """
        return rows_of(start_embedding(self._handle, texts, **options))

    async def embed_async(self, texts: Iterable[str], **options: Any) -> Array:
        """The same as embed while the event loop goes on. Cancelling the task
        that waits cancels it.

        # :api: described rc_embed_options
        """
        return await rows_later(
            functools.partial(start_embedding, self._handle, texts, **options)
        )

    def rerank(
        self, query: str, documents: Iterable[str], **options: Any
    ) -> Array:
        """Returns how well each document answers the query: a float32 array
        [documents] of probabilities, in their order.

        Models that generate text support it if they were loaded with
        output="scores". The options, by name:

        # :api: described rc_rerank_options
        """
        start = start_scores(self._handle, query, documents, **options)
        return rows_of(start).reshape(-1)

    async def rerank_async(
        self, query: str, documents: Iterable[str], **options: Any
    ) -> Array:
        """The same as rerank while the event loop goes on. Cancelling the task
        that waits cancels it.

        # :api: described rc_rerank_options
        """
        rows = await rows_later(
            functools.partial(
                start_scores, self._handle, query, documents, **options
            )
        )
        return rows.reshape(-1)

    def session(
        self,
        *,
        # :api: keywords rc_session_options
    ) -> Session:
        """Makes an empty session; see Session.

        # :api: described rc_session_options
        """
        return Session(
            self,
            # :api: values rc_session_options
        )

    def _said(self) -> str:
        report = self.report
        return f"{report.name!r} ({report.architecture}) on {report.device}"


def plan(
    path: Path,
    backend: Union[Backend, str, None] = None,
    *,
    # :api: keywords rc_model_options
) -> Plan:
    # :header: rc_model_plan rc_plan_report rc_model_options
    options = set_options(
        _native.model_options(),
        # :api: values rc_model_options
    )
    opened = backend_of(backend)
    return plan_of(
        _native.model_plan(os.fsencode(path), options, opened._handle)
    )


def estimate(
    hyper_parameters: Dict[str, Any],
    type: str = "",
    backend: Union[Backend, str, None] = None,
    *,
    # :api: keywords rc_model_options
) -> Plan:
    """Returns the device memory that a model without a file would take: exactly
    what plan returns for a file with these hyper-parameters.

    They are the metadata of such a file: {"architecture": "llama",
    "block_count": 32, "embedding_length": 4096, "vocab_size": 32000, ...}, and
    "tensors", the names of those that are optional in the architecture, such as
    ["output.weight", "blk.*.attn_q.bias"]. `type` is the type of the weights, such
    as "Q4_K_M", else F16.

    # :api: described rc_model_options
    """
    options = set_options(
        _native.model_options(),
        # :api: values rc_model_options
    )
    opened = backend_of(backend)
    return plan_of(
        _native.model_estimate(
            json.dumps(hyper_parameters), type, options, opened._handle
        )
    )


def verify(path: Path) -> None:
    # :header: rc_model_verify
    _native.model_verify(os.fsencode(path))
