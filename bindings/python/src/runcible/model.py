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
    List,
    Optional,
    Sequence,
    Union,
)

from . import native as _native
from ._docs import documented
from ._dtypes import dtype_number
from ._handle import Handle, set_options
from ._loops import loop_of, running
from ._progress import load_progress
from .backend import Backend, backend_of
from .reports import ModelReport, Plan, copied, plan_of
from .tokenizer import Tokenizer

if TYPE_CHECKING:
    from .session import Session

#: A path, or "builtin:NAME" for a model that comes with Runcible.
Path = Union[str, "os.PathLike[str]"]

#: Told the fraction done; True shows a bar if tqdm is installed.
Progress = Union[Callable[[float], object], bool, None]


def _options(
    context_length: Optional[int],
    cache_tokens: Optional[int],
    cache_dtype: Optional[str],
    max_rows: Optional[int],
    prefix_cache: Optional[bool],
    keep_mapped: Optional[bool],
    guard_mapped: Optional[bool],
) -> Any:
    return set_options(
        _native.model_options(),
        context_length=context_length,
        cache_tokens=cache_tokens,
        cache_dtype=None if cache_dtype is None else dtype_number(cache_dtype),
        max_rows=max_rows,
        prefix_cache=prefix_cache,
        keep_mapped=keep_mapped,
        guard_mapped=guard_mapped,
    )


@documented("rc_model", "rc_model_load", "rc_model_options")
class Model(Handle):
    __slots__ = ("_backend", "_tokenizer")

    def __init__(
        self,
        path: Path,
        backend: Union[Backend, str, None] = None,
        *,
        context_length: Optional[int] = None,
        cache_tokens: Optional[int] = None,
        cache_dtype: Optional[str] = None,
        max_rows: Optional[int] = None,
        prefix_cache: Optional[bool] = None,
        keep_mapped: Optional[bool] = None,
        guard_mapped: Optional[bool] = None,
        progress: Progress = None,
    ) -> None:
        options = _options(
            context_length,
            cache_tokens,
            cache_dtype,
            max_rows,
            prefix_cache,
            keep_mapped,
            guard_mapped,
        )
        self._backend = backend_of(backend)
        self._tokenizer: Optional[Tokenizer] = None
        with load_progress(progress) as report:
            # Kept by the name `report` for as long as the call may need it.
            options.set_progress(report)
            self._proxy = _native.model_load(
                self._backend._handle, os.fsencode(path), options
            )

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
        """
        load = functools.partial(cls, path, backend, **options)
        return await loop_of(running()).load(load, progress)

    @property
    def backend(self) -> Backend:
        """The backend that the model was loaded through."""
        return self._backend

    @property
    @documented("rc_model_report")
    def report(self) -> ModelReport:
        report = _native.model_report()
        proxy = self._handle
        _native.model_describe(proxy, report)
        return copied(ModelReport, report)

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer; UnsupportedError if it has none."""
        proxy = self._handle
        if self._tokenizer is None:
            self._tokenizer = Tokenizer._of(_native.model_get_tokenizer(proxy))
        return self._tokenizer

    @documented("rc_tokenize")
    def tokenize(
        self,
        text: Union[str, bytes],
        *,
        add_special: bool = True,
        parse_special: bool = False,
    ) -> List[int]:
        return self.tokenizer.tokenize(
            text, add_special=add_special, parse_special=parse_special
        )

    @documented("rc_detokenize")
    def detokenize(
        self, tokens: Sequence[int], *, special: bool = False
    ) -> str:
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

    def session(
        self,
        *,
        context_length: Optional[int] = None,
        when_full: Optional[str] = None,
        keep_tokens: Optional[int] = None,
    ) -> Session:
        """An empty session; see Session."""
        from .session import Session

        return Session(
            self,
            context_length=context_length,
            when_full=when_full,
            keep_tokens=keep_tokens,
        )

    def __repr__(self) -> str:
        if self.closed:
            return "<Model, closed>"
        report = self.report
        return f"<Model {report.name!r} ({report.architecture}) on {report.device}>"


@documented("rc_model_plan", "rc_plan_report")
def plan(
    path: Path,
    backend: Union[Backend, str, None] = None,
    *,
    context_length: Optional[int] = None,
    cache_tokens: Optional[int] = None,
    cache_dtype: Optional[str] = None,
    max_rows: Optional[int] = None,
    prefix_cache: Optional[bool] = None,
    keep_mapped: Optional[bool] = None,
    guard_mapped: Optional[bool] = None,
) -> Plan:
    options = _options(
        context_length,
        cache_tokens,
        cache_dtype,
        max_rows,
        prefix_cache,
        keep_mapped,
        guard_mapped,
    )
    opened = backend_of(backend)
    return plan_of(
        _native.model_plan(os.fsencode(path), options, opened._handle)
    )


@documented("rc_model_verify")
def verify(path: Path) -> None:
    _native.model_verify(os.fsencode(path))
