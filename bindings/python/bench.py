"""Measures rates through asyncio, and how responsive its event loop stays.

    bench.py [--streams 64] [--tokens 256] [--backend cpu] [--model PATH]
             [--uvloop] [--serve]

Streams texts at once with a timer of 1 ms, and prints the rate of all together
and the timer's worst lateness, with and without streams. The lateness includes
waiting for processors that other processes and the computing threads use.
Therefore "longest_turn_ms" states the longest time that the package itself held
the loop, from taking events to delivering them, and "longest_turn_cpu_ms" the
processor time of that. With --serve the same loop answers another process by
HTTP meanwhile, and the response times that the process measured are printed,
also those without streams. bench/event_loop.c does the same in C: run one after
the other to compare.
"""

import argparse
import asyncio
import http.client
import json
import subprocess
import sys
import threading
import time

import runcible
from runcible import streaming

_TICK = 0.001
_PAUSE = 0.005  # between two questions
_WARM_UP = 50  # questions before measuring starts


class Timer:
    """Ticks every millisecond and records its worst lateness."""

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
    """Returns the result of a coroutine and a timer's worst lateness meanwhile."""
    timer = Timer()
    timer.start()
    try:
        return await work, timer.worst * 1000
    finally:
        timer.stop()


async def count_tokens(session, seed, tokens):
    count = 0
    options = {"seed": seed, "max_tokens": tokens, "ignore_eos": True}
    async for piece in session.stream("A", **options):
        count += len(piece.tokens)
    return count


def ask(port):
    """Asks until the standard input ends; prints the times of the answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    times = []

    def question():
        begun = time.perf_counter()
        connection.request("GET", "/")
        connection.getresponse().read()
        times.append((time.perf_counter() - begun) * 1000)
        time.sleep(_PAUSE)

    for _ in range(_WARM_UP):
        question()
    print("ready", flush=True)
    times.clear()
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set())).start()
    while not ended.is_set():
        question()
    print(json.dumps(times))


async def answer(reader, writer):
    try:
        while await reader.readuntil(b"\r\n\r\n"):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhere\n")
    except asyncio.IncompleteReadError:
        writer.close()


async def served(work):
    """Returns the result of a coroutine and the times of answers meanwhile."""
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    asker = await asyncio.create_subprocess_exec(
        sys.executable,
        __file__,
        "--ask",
        str(port),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        limit=1 << 24,
    )
    await asker.stdout.readline()
    result = await work
    out, _ = await asker.communicate(b"")
    server.close()
    times = sorted(json.loads(out))
    at = {
        name: round(times[int(part * (len(times) - 1))], 2)
        for name, part in (("median", 0.5), ("p99", 0.99), ("worst", 1))
    }
    return result, {"asked": len(times), **at}


async def measure(arguments):
    model = await runcible.Model.load(arguments.model, arguments.backend)
    sessions = [
        model.session(when_full="shift") for _ in range(arguments.streams)
    ]
    turns = Turns()

    async def streams():
        begun = time.monotonic()
        counts, late = await lateness(
            asyncio.gather(
                *(
                    count_tokens(session, seed, arguments.tokens)
                    for seed, session in enumerate(sessions)
                )
            )
        )
        return counts, late, time.monotonic() - begun

    answers = {}
    if arguments.serve:
        (_, alone), answers["answers_alone_ms"] = await served(
            lateness(asyncio.sleep(1))
        )
        turns.measure()
        result, answers["answers_ms"] = await served(streams())
        counts, worst, seconds = result
    else:
        _, alone = await lateness(asyncio.sleep(1))
        turns.measure()
        counts, worst, seconds = await streams()
    return {
        "streams": arguments.streams,
        "tokens": sum(counts),
        "seconds": round(seconds, 3),
        "tokens_per_second": round(sum(counts) / seconds, 1),
        "turns": turns.count,
        "longest_turn_ms": round(turns.longest * 1000, 3),
        "longest_turn_cpu_ms": round(turns.longest_cpu * 1000, 3),
        "worst_late_ms": round(worst, 2),
        "worst_late_alone_ms": round(alone, 2),
        **answers,
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--model", default="builtin:fable")
    parser.add_argument("--uvloop", action="store_true")
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--ask", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.ask:
        return ask(arguments.ask)
    if arguments.uvloop:
        import uvloop

        result = uvloop.run(measure(arguments))
    else:
        result = asyncio.run(measure(arguments))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
