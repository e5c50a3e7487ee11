"""Rates through asyncio, and how responsive its event loop stays.

    bench.py [--streams 64] [--tokens 256] [--backend cpu] [--model PATH]
             [--uvloop]

Streams texts at once beside a timer of 1 ms, and prints the rate of all together
and the timer's worst lateness, with and without streams. That is also late
because other processes, and the threads that compute, have the processors: so
"longest_turn_ms" tells how long the package itself held the loop at most, from
taking events to their being handed out, and "longest_turn_cpu_ms" how long it
ran in that time. bench/event_loop.c does the same in C: run one after the other
to compare.
"""

import argparse
import asyncio
import json
import time

import runcible
from runcible import streaming

_TICK = 0.001


class Timer:
    """Ticks every millisecond and notes how late it was at worst."""

    def __init__(self):
        self.worst = 0.0
        self._due = None

    def start(self):
        self._due = time.monotonic() + _TICK
        self._handle = asyncio.get_running_loop().call_later(_TICK, self._tick)

    def _tick(self):
        self.worst = max(self.worst, time.monotonic() - self._due)
        self.start()

    def stop(self):
        self._handle.cancel()


class Turns:
    """The longest call that takes events for an event loop."""

    def __init__(self):
        self.count = 0
        self.longest = 0.0
        self.longest_cpu = 0.0

    def measure(self):
        take = streaming._Mailbox._take

        def timed(mailbox):
            begun, begun_cpu = time.perf_counter(), time.thread_time()
            take(mailbox)
            self.count += 1
            self.longest_cpu = max(
                self.longest_cpu, time.thread_time() - begun_cpu
            )
            self.longest = max(self.longest, time.perf_counter() - begun)

        streaming._Mailbox._take = timed


async def lateness(work):
    """The result of a coroutine, and the timer's worst lateness beside it."""
    timer = Timer()
    timer.start()
    try:
        return await work, timer.worst * 1000
    finally:
        timer.stop()


async def count_tokens(session, seed, tokens):
    count = 0
    options = {"seed": seed, "max_tokens": tokens, "ignore_end": True}
    async for piece in session.stream("A", **options):
        count += len(piece.tokens)
    return count


async def measure(arguments):
    model = await runcible.Model.load(arguments.model, arguments.backend)
    sessions = [
        model.session(when_full="shift") for _ in range(arguments.streams)
    ]
    _, alone = await lateness(asyncio.sleep(1))
    turns = Turns()
    turns.measure()
    begun = time.monotonic()
    counts, beside = await lateness(
        asyncio.gather(
            *(
                count_tokens(session, seed, arguments.tokens)
                for seed, session in enumerate(sessions)
            )
        )
    )
    seconds = time.monotonic() - begun
    return {
        "streams": arguments.streams,
        "tokens": sum(counts),
        "seconds": round(seconds, 3),
        "tokens_per_second": round(sum(counts) / seconds, 1),
        "turns": turns.count,
        "longest_turn_ms": round(turns.longest * 1000, 3),
        "longest_turn_cpu_ms": round(turns.longest_cpu * 1000, 3),
        "worst_late_ms": round(beside, 2),
        "worst_late_alone_ms": round(alone, 2),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--model", default="builtin:fable")
    parser.add_argument("--uvloop", action="store_true")
    arguments = parser.parse_args()
    if arguments.uvloop:
        import uvloop

        result = uvloop.run(measure(arguments))
    else:
        result = asyncio.run(measure(arguments))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
