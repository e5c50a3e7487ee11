"""Generating text: options, pieces, and the blocking iterator."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import (
    Any,
    Callable,
    Generic,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Type,
    TypedDict,
    TypeVar,
    Union,
)

from . import errors
from . import native as _native
from ._handle import need, set_options
from ._json import JsonOption
from ._use import SIGNALS_MS, Use
from .grammar import Grammar
from .reports import Report

_Item = TypeVar("_Item")
_Self = TypeVar("_Self", bound="Reading[Any]")

#: Text, tokens, or nothing.
Prompt = Union[str, bytes, Sequence[int], None]


class GenerateOptions(TypedDict, total=False):
    """Keywords of ``Session.generate`` and ``Session.stream``.

    A keyword that is absent or None has the library's default.
    """

    # :api: typed rc_generate_options
    logit_bias: Optional[Mapping[int, float]]
    stop: Union[str, Sequence[str], None]
    stop_tokens: Optional[Sequence[int]]
    #: The grammar of the text.
    grammar: Optional[Grammar]
    add_special: bool
    parse_special: bool


def tokenize_flags(add_special: bool, parse_special: bool) -> int:
    flags = 0
    if add_special:
        flags |= _native.TOKENIZE_ADD_SPECIAL
    if parse_special:
        flags |= _native.TOKENIZE_PARSE_SPECIAL
    return flags


def make_options(
    prompt: Prompt,
    *,
    logit_bias: Optional[Mapping[int, float]] = None,
    stop: Union[str, Sequence[str], None] = None,
    stop_tokens: Optional[Sequence[int]] = None,
    grammar: Optional[Grammar] = None,
    add_special: bool = True,
    parse_special: bool = False,
    # :api: keywords rc_generate_options
) -> Any:
    """Makes options of the library from the keywords in GenerateOptions."""
    options = set_options(
        _native.generate_options(),
        tokenize_flags=tokenize_flags(add_special, parse_special),
        # :api: values rc_generate_options
    )
    if isinstance(prompt, (str, bytes)):
        options.set_prompt(prompt)
    elif prompt is not None:
        options.set_prompt_tokens(prompt)
    for text in (stop,) if isinstance(stop, str) else stop or ():
        if not isinstance(text, str):
            raise TypeError(f"stop must be str, not {type(text).__name__}")
        options.add_stop(text)
    if stop_tokens is not None:
        options.set_stop_tokens(stop_tokens)
    for token, bias in (logit_bias or {}).items():
        options.add_logit_bias(token, bias)
    if grammar is not None:
        options.set_grammar(need(grammar, Grammar, "grammar"))
    return options


#: A token and the natural logarithm of its probability.
Logprob = Tuple[int, float]


class Piece(str):
    """Text that is final: a str that also has its tokens.

    All pieces in order make up the complete text.
    """

    __slots__ = ("tokens", "logprobs", "top_logprobs")

    #: The tokens generated since the last piece.
    tokens: List[int]
    #: The log-probability of each token, with the option `logprobs`; else None.
    logprobs: Optional[List[Logprob]]
    #: The most probable tokens for each position, by falling probability.
    top_logprobs: Optional[List[List[Logprob]]]


def piece_of(event: Tuple[Any, ...]) -> Piece:
    """Returns the piece that an event of the library represents."""
    piece = Piece(event[1])
    piece.tokens = event[2]
    piece.logprobs, piece.top_logprobs = event[3]
    return piece


class End:
    """The end of a request."""

    __slots__ = ("report", "status", "message")

    def __init__(self, event: Tuple[Any, ...]) -> None:
        reason, *numbers = event[4]
        self.report = Report(_native.end_reason_name(reason), *numbers)
        self.status: int = event[2]
        self.message: str = event[3]

    def error(self) -> Optional[errors.Error]:
        """The exception to raise after the last piece, if any."""
        if self.status == _native.OK:
            return None
        error = errors.of_status(
            self.status, self.message or f"the request ended: {self.report.reason}"
        )
        error.report = self.report
        return error


class Reading(Iterator[_Item], Generic[_Item]):
    """The results of a request as they arrive; see Generation and Answer."""

    def __init__(
        self, request: Any, item_of: Callable[[Tuple[Any, ...]], _Item]
    ) -> None:
        # Held by the reader; a signal handler may close what its thread waits for.
        self._mutex = threading.RLock()
        self._end: Optional[End] = None
        self._reported = False
        self._item_of = item_of
        self._request = request
        #: Used by the session.
        self.use = Use(self._request)

    def __iter__(self: _Self) -> _Self:
        self.use.reader = threading.get_ident()
        return self

    def __next__(self) -> _Item:
        if not self._mutex.acquire(blocking=False):
            raise ValueError("another thread waits for this generation")
        try:
            with self.use.reading(threading.get_ident()):
                while self._end is None:
                    event = _native.request_next(self._request, SIGNALS_MS)
                    if event is None:
                        continue
                    if event[1] is not None:
                        return self._item_of(event)
                    self._end = End(event)
        except errors.Error:
            raise
        except BaseException:
            # Mainly KeyboardInterrupt, whose traceback keeps this alive.
            self._reported = True
            self.cancel()
            self._drain()
            raise
        finally:
            self._mutex.release()
        if not self._reported:
            self._reported = True
            error = self._end.error()
            if error is not None:
                raise error
        raise StopIteration

    @property
    def report(self) -> Optional[Report]:
        """The reason of the end, times and counts; None before the end."""
        return None if self._end is None else self._end.report

    def cancel(self) -> None:
        # :header: rc_request_cancel
        _native.request_cancel(self._request)

    def close(self) -> None:
        """Cancels and waits for the end; pieces not yet read are dropped."""
        self._reported = True
        if self._end is not None:
            return
        self.cancel()
        with self._mutex:
            self._drain()

    def _drain(self) -> None:
        """Waits for the end. Requires: the mutex is held."""
        while self._end is None:
            event = _native.request_next(self._request, SIGNALS_MS)
            if event is not None and event[1] is None:
                self._end = End(event)

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def __del__(self) -> None:
        use = getattr(self, "use", None)
        if use is not None and self._end is None:
            try:
                use.end()
            except errors.ClosedError:
                pass  # in the child of a fork, where the library does not run


class Generation(Reading[Piece]):
    """The pieces of a text as they arrive; iterating blocks.

    An unsuccessful end is raised after the last piece: DeadlineError,
    CancelledError, ... An exception while it waits, such as KeyboardInterrupt,
    cancels the generation and waits for its end, as do closing it, leaving its
    ``with`` block and losing the last reference to it. A generation that a thread
    left unfinished in another way ends when the thread next uses the session;
    reading on then raises CancelledError.
    """

    def __init__(self, session: Any, options: Any) -> None:
        super().__init__(_native.request_start(session, options), piece_of)
