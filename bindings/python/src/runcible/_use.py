"""Who uses a session: its requests, and which of them were left unfinished.

A plain iterator is not told that a loop over it was left, and a traceback may
keep it alive. But who reads a request and then wants something else of the same
session has left it; so it is ended before the session is used.
"""

from __future__ import annotations

import threading
import weakref
from contextlib import contextmanager
from typing import Any, Iterator, List

from . import native as _native
from ._loops import current_task
from .errors import WaitTimeoutError

#: How often a blocking wait looks whether a signal has come, milliseconds.
SIGNALS_MS = 100


class Use:
    """One request of a session."""

    __slots__ = ("reader", "_request", "_reading", "_dropped", "__weakref__")

    def __init__(self, request: Any) -> None:
        #: Who read last: the number of a thread, or a reference to a task.
        self.reader: Any = None
        self._request = request
        self._reading = False
        self._dropped = False

    @contextmanager
    def reading(self, reader: Any) -> Iterator[None]:
        """Around waiting for an event, which is no leaving."""
        self.reader = reader
        self._reading = True
        try:
            yield
        finally:
            self._reading = False

    def drop(self) -> None:
        """Asks it to end, as nobody reads it any more."""
        self._dropped = True
        _native.request_cancel(self._request)

    def end(self) -> None:
        """Ends it, and returns when the session is free of it."""
        self.drop()
        while not self.ended(SIGNALS_MS):
            pass

    def ended(self, timeout_ms: int = 0) -> bool:
        try:
            _native.request_wait(self._request, timeout_ms)
        except WaitTimeoutError:
            return False
        return True

    def left(self) -> bool:
        """Whether who asks has left it, or nobody can read it any more."""
        if self._dropped:
            return True
        if self._reading or self.reader is None:
            return False
        if isinstance(self.reader, weakref.ref):
            task = current_task()
            return task is not None and self.reader() is task
        return bool(self.reader == threading.get_ident())


class Uses:
    """The requests of one session that have not ended."""

    __slots__ = ("_mutex", "_uses")

    def __init__(self) -> None:
        self._mutex = threading.RLock()  # a signal handler may take it again
        self._uses: List[Use] = []

    def add(self, use: Use) -> None:
        with self._mutex:
            going = [each for each in self._uses if not each.ended()]
            self._uses = [*going, use]

    def end_left(self) -> None:
        """Ends what the thread or task that calls this has left."""
        for use in self._uses:
            if use.left():
                use.end()

    def drop_left(self) -> None:
        """The same without waiting: what is asked for next waits its turn."""
        for use in self._uses:
            if use.left():
                use.drop()
