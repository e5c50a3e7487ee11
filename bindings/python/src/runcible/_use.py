"""The requests of a session, and which of them were left unfinished.

A plain iterator is not notified that a loop over it was left, and a traceback may
keep it alive. But if the reader of a request uses the same session for something
else, it has left the request, so the request is ended before the session is used.
"""

from __future__ import annotations

import threading
import weakref
from contextlib import contextmanager
from typing import Any, Iterator, List

from . import native as _native
from ._loops import current_task
from .errors import WaitTimeoutError

#: How often a blocking wait checks for signals, in milliseconds.
SIGNALS_MS = 100


class Use:
    """One request of a session."""

    __slots__ = ("reader", "_request", "_reading", "_dropped", "__weakref__")

    def __init__(self, request: Any) -> None:
        #: The last reader: the number of a thread, or a reference to a task.
        self.reader: Any = None
        self._request = request
        self._reading = False
        self._dropped = False

    @contextmanager
    def reading(self, reader: Any) -> Iterator[None]:
        """Marks waiting for an event, so that the request does not count as left."""
        self.reader = reader
        self._reading = True
        try:
            yield
        finally:
            self._reading = False

    def drop(self) -> None:
        """Asks it to end, because it is no longer read."""
        self._dropped = True
        _native.request_cancel(self._request)

    def end(self) -> None:
        """Ends it, and returns when the session is available again."""
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
        """Returns whether the caller has left it, or it can no longer be read."""
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
        """Ends the requests that the calling thread or task has left."""
        for use in self._uses:
            if use.left():
                use.end()

    def drop_left(self) -> None:
        """The same without waiting: the next request waits for its turn."""
        for use in self._uses:
            if use.left():
                use.drop()
