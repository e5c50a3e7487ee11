"""Generating text on an event loop, of asyncio or trio.

The library notifies a descriptor when events wait; the event loop watches it and
takes them. No thread of the library ever runs Python.
"""

from __future__ import annotations

import weakref
from collections import deque
from types import TracebackType
from typing import (
    Any,
    AsyncIterator,
    Callable,
    Deque,
    Dict,
    Generic,
    Optional,
    Tuple,
    Type,
    TypeVar,
)

from . import native as _native
from ._loops import Loop, current_task, loop_of, running
from ._use import Use
from .errors import ClosedError
from .generation import End, Piece, piece_of
from .reports import Report

_Item = TypeVar("_Item")
_Self = TypeVar("_Self", bound="AsyncReading[Any]")
_Event = Tuple[Any, ...]
#: Starts a request of a mailbox by its key.
_Begin = Callable[[Any, int], Any]

#: The number of events delivered in one turn of an event loop. More wait for the
#: next turn, so that the loop can run other tasks between them.
_EVENTS_OF_A_TURN = 32


class _Channel:
    """The parts of one request that have not been read."""

    __slots__ = ("loop", "item_of", "items", "end", "failure", "waiter")

    def __init__(self, loop: Loop, item_of: Callable[[_Event], Any]) -> None:
        self.loop = loop
        self.item_of = item_of
        self.items: Deque[Any] = deque()
        self.end: Optional[End] = None
        self.failure: Optional[BaseException] = None
        self.waiter: Any = None  # a future

    @property
    def ended(self) -> bool:
        return self.end is not None or self.failure is not None

    def wake(self) -> None:
        waiter, self.waiter = self.waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    async def wait(self) -> None:
        if self.waiter is not None:
            raise RuntimeError("another task waits for this stream")
        self.waiter = self.loop.future()
        try:
            await self.waiter
        finally:
            self.waiter = None


class _Mailbox:
    """The mailbox to which the requests of one event loop post their events."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self._box = _native.mailbox_create()
        self._descriptor = _native.mailbox_descriptor(self._box)
        self._channels: Dict[int, _Channel] = {}
        self._last_key = 0

    def start(self, begin: _Begin, channel: _Channel) -> Any:
        """Starts a request that posts to `channel`."""
        self._last_key += 1
        request = begin(self._box, self._last_key)
        if not self._channels:
            self.loop.watch(self._descriptor, self._take)
        self._channels[self._last_key] = channel
        return request

    def _take(self) -> None:
        try:
            for event in _native.mailbox_take_some(
                self._box, _EVENTS_OF_A_TURN
            ):
                self._post(event)
        except BaseException as failure:
            # Events are lost, so that no stream is complete any more.
            for channel in self._channels.values():
                channel.failure = failure
                channel.wake()
            self._channels.clear()
            self.loop.rest(self._descriptor)
            raise

    def _post(self, event: Any) -> None:
        channel = self._channels.get(event[0])
        if channel is None:
            return  # its stream has failed
        if event[1] is not None:
            channel.items.append(channel.item_of(event))
        else:
            channel.end = End(event)
            del self._channels[event[0]]
            if not self._channels:
                self.loop.rest(self._descriptor)
        channel.wake()


#: By the running loop; see _loops.
_mailboxes: weakref.WeakKeyDictionary[
    Any, _Mailbox
] = weakref.WeakKeyDictionary()


def _running_mailbox() -> _Mailbox:
    key = running()
    mailbox = _mailboxes.get(key)
    if mailbox is None:
        mailbox = _mailboxes[key] = _Mailbox(loop_of(key))
    return mailbox


class AsyncReading(AsyncIterator[_Item], Generic[_Item]):
    """The results of a request as they arrive; see Stream and AnswerStream."""

    def __init__(
        self, begin: _Begin, item_of: Callable[[_Event], _Item]
    ) -> None:
        mailbox = _running_mailbox()
        self._loop = mailbox.loop
        self._channel = _Channel(self._loop, item_of)
        self._reported = False
        self._at_once = 0  # items that were read without waiting
        self._request = mailbox.start(begin, self._channel)
        #: Used by the session.
        self.use = Use(self._request)

    def __aiter__(self: _Self) -> _Self:
        return self

    async def __anext__(self) -> _Item:
        channel = self._channel
        task = current_task()
        self.use.reader = None if task is None else weakref.ref(task)
        try:
            if channel.items:
                self._at_once += 1
                if self._at_once % _EVENTS_OF_A_TURN == 0:
                    await self._loop.turn()
            while not channel.items and not channel.ended:
                self._check_loop()
                await channel.wait()
        except self._loop.cancelled:
            self._reported = True
            await self._stop()
            raise
        if channel.items:
            item: _Item = channel.items.popleft()
            return item
        if not self._reported:
            self._reported = True
            if channel.failure is not None:
                raise channel.failure
            assert channel.end is not None
            error = channel.end.error()
            if error is not None:
                raise error
        raise StopAsyncIteration

    @property
    def report(self) -> Optional[Report]:
        """The reason of the end, times and counts; None before the end."""
        end = self._channel.end
        return None if end is None else end.report

    def cancel(self) -> None:
        """Asks the generation to end; CancelledError after the last piece."""
        _native.request_cancel(self._request)

    async def aclose(self) -> None:
        """Cancels and waits for the end; pieces not yet read are dropped."""
        self._reported = True
        await self._stop()

    async def _stop(self) -> None:
        channel = self._channel
        if not channel.ended:
            self._check_loop()
            self.cancel()
        with self._loop.shield():
            while not channel.ended:
                await channel.wait()
        channel.items.clear()

    def _check_loop(self) -> None:
        if not self._loop.is_running():
            raise RuntimeError("this stream belongs to another event loop")

    async def __aenter__(self: _Self) -> _Self:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        use = getattr(self, "use", None)
        if use is not None and not self._channel.ended:
            try:
                use.drop()
            except ClosedError:
                pass  # in the child of a fork, where the library does not run


class Stream(AsyncReading[Piece]):
    """The pieces of a text as they arrive, on the running event loop.

    An unsuccessful end is raised after the last piece: DeadlineError,
    CancelledError, ... Cancelling the task that waits for a piece cancels the
    generation and waits for its end, as do ``aclose`` and leaving an ``async with``
    block; losing the last reference cancels it. A stream that a task left
    unfinished in another way ends when the task next uses the session; reading on
    then raises CancelledError.
    """

    def __init__(self, session: Any, options: Any) -> None:
        def begin(box: Any, key: int) -> Any:
            return _native.mailbox_generate(box, session, options, key)

        super().__init__(begin, piece_of)
