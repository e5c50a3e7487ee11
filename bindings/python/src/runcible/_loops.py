"""The event loops of streams: asyncio's, in any implementation, or trio's.

Both watch a descriptor, and a task waits by a future.
"""

from __future__ import annotations

import asyncio

# asyncio imports this when it first runs a function in a thread, and its loop waits.
import concurrent.futures.thread  # noqa: F401
import functools
import sys
import weakref
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Callable, Optional, Type, TypeVar, Union

_Made = TypeVar("_Made")

#: A function with the keyword `progress`, which blocks.
Load = Callable[..., _Made]
Progress = Optional[Callable[[float], object]]


class AsyncioLoop:
    cancelled: Type[BaseException] = asyncio.CancelledError

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = weakref.ref(loop)

    def is_running(self) -> bool:
        return running() is self._loop()

    def watch(self, descriptor: int, readable: Callable[[], None]) -> None:
        """Calls a function while the descriptor is readable."""
        asyncio.get_running_loop().add_reader(descriptor, readable)

    def rest(self, descriptor: int) -> None:
        """Stops watching."""
        loop = self._loop()
        if loop is not None:
            loop.remove_reader(descriptor)

    def future(self) -> asyncio.Future[None]:
        return asyncio.get_running_loop().create_future()

    async def turn(self) -> None:
        """Lets other tasks run."""
        await asyncio.sleep(0)

    def shield(self) -> AbstractContextManager[Any]:
        """Protects work that a task must wait for although it is cancelled."""
        return nullcontext()  # asyncio throws into a task only once

    async def call(
        self, function: Callable[[], _Made], *, leave: bool = False
    ) -> _Made:
        """Runs a function that blocks and cannot be cancelled in a thread. A
        cancelled task may `leave` it running; otherwise it waits for the end, if
        the loop supports that, which asyncio does not."""
        return await asyncio.get_running_loop().run_in_executor(None, function)

    async def load(self, load: Load[_Made], progress: Progress) -> _Made:
        """Runs a load, or an opening, in a thread; cancelling the task cancels
        it."""
        loop = asyncio.get_running_loop()
        cancelled = False

        def report(fraction: float) -> None:
            if cancelled:
                raise asyncio.CancelledError
            if progress is not None:
                loop.call_soon_threadsafe(progress, fraction)

        try:
            return await loop.run_in_executor(
                None, functools.partial(load, progress=report)
            )
        finally:
            cancelled = True


class _TrioFuture:
    """The part of a future that streams use."""

    def __init__(self) -> None:
        import trio

        self._event = trio.Event()

    def done(self) -> bool:
        return self._event.is_set()

    def set_result(self, result: None) -> None:
        self._event.set()

    def __await__(self) -> Any:
        return self._event.wait().__await__()


class TrioLoop:
    def __init__(self, token: Any) -> None:
        import trio

        self.cancelled: Type[BaseException] = trio.Cancelled
        self._token = weakref.ref(token)
        self._watching = False

    def is_running(self) -> bool:
        return running() is self._token()

    def watch(self, descriptor: int, readable: Callable[[], None]) -> None:
        import trio

        async def serve() -> None:
            while self._watching:
                await trio.lowlevel.wait_readable(descriptor)
                try:
                    readable()
                except Exception:
                    # Every stream raises it; a system task must not.
                    pass

        self._watching = True
        trio.lowlevel.spawn_system_task(serve)

    def rest(self, descriptor: int) -> None:
        self._watching = False

    def future(self) -> _TrioFuture:
        return _TrioFuture()

    async def turn(self) -> None:
        import trio

        await trio.lowlevel.checkpoint()

    def shield(self) -> AbstractContextManager[Any]:
        import trio

        return trio.CancelScope(shield=True)

    async def call(
        self, function: Callable[[], _Made], *, leave: bool = False
    ) -> _Made:
        import trio

        return await trio.to_thread.run_sync(function, abandon_on_cancel=leave)

    async def load(self, load: Load[_Made], progress: Progress) -> _Made:
        import trio

        def report(fraction: float) -> None:
            if progress is not None:
                trio.from_thread.run_sync(progress, fraction)
            trio.from_thread.check_cancelled()

        return await trio.to_thread.run_sync(
            functools.partial(load, progress=report)
        )


Loop = Union[AsyncioLoop, TrioLoop]


def running() -> Any:
    """Returns what runs: the token of trio, or the event loop of asyncio;
    RuntimeError: neither."""
    trio = sys.modules.get("trio")
    if trio is not None:
        try:
            return trio.lowlevel.current_trio_token()
        except RuntimeError:
            pass  # trio was imported, but does not run here
    return asyncio.get_running_loop()


def loop_of(running: Any) -> Loop:
    if isinstance(running, asyncio.AbstractEventLoop):
        return AsyncioLoop(running)
    return TrioLoop(running)


def current_task() -> Any:
    """Returns the task of trio or asyncio that runs in this thread; None: there is
    none."""
    trio = sys.modules.get("trio")
    if trio is not None:
        try:
            return trio.lowlevel.current_task()
        except RuntimeError:
            pass
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None
