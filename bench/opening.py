#!/usr/bin/env python3
"""How well an event loop stays responsive while devices are discovered and
backends are opened, in C, Python and Node.

    opening.py [--build build/release] [--node PACKAGE] [--runs 5]

Each run is a process of its own with empty caches. A timer of 1 ms runs on the
loop. What is printed are medians over the runs:

  late    how late the timer was at worst, and of what that consisted:
  busy    the loop's thread computed
  waited  it could have run, but the processors ran others (Linux tells)
  held    neither: it waited for a lock (in Python also the interpreter's), for
          a page of memory, or the machine itself stood still
  load    how late the timer is at worst in a process of the same kind, for as
          long, beside as many threads that do nothing but compute as were busy
          while it was opened, with turns as long as those of the library's
  alone   how late it was at worst before anything was opened
  call, close  how long the calls that began it and that closed what was opened
          kept the loop
  used    processors, from the call to the end

"met" means that the timer was at most 1 ms late. "waited" means that it was
later, but that the library kept the loop for at most 1 ms (the most of busy and
of held, whenever that was, and call and close): the rest was the processors'.
With the package `runcible` installed Python is measured too, and Node with the
folder of its package, such as build/bindings/node/package.
"""

import argparse
import asyncio
import contextlib
import ctypes
import importlib.util
import json
import math
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GOAL_MS = 1
HERE = Path(__file__).resolve().parent
COLUMNS = {"late": "late_ms", "busy": "late_busy_ms", "waited": "late_waited_ms", "held": "late_held_ms",
           "load": "load_ms", "alone": "late_alone_ms", "call": "call_ms", "close": "close_ms",
           "seconds": "seconds", "used": "processors"}


class Clocks:
    """Of the calling thread: now, computed and waited, in ms."""

    def __init__(self):
        try:
            self.schedstat = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
        except OSError:
            self.schedstat = None

    def read(self):
        waited = 0 if self.schedstat is None else int(os.pread(self.schedstat, 96, 0).split()[1])
        return time.perf_counter() * 1e3, time.thread_time() * 1e3, waited * 1e-6


class Timer:
    """Of 1 ms. Linux has one that a loop watches as it does a socket; asyncio's
    own would round what is left of a wait up to 1 ms whenever anything wakes the
    loop, and so be late without being kept from anything."""

    NONBLOCK_CLOEXEC = 0o2004000
    SPEC = struct.pack("4l", 0, 1_000_000, 0, 1_000_000)  # the period and the first tick

    def __init__(self):
        self.descriptor = None
        if sys.platform != "linux":
            return
        libc = ctypes.CDLL(None)
        self.descriptor = libc.timerfd_create(time.CLOCK_MONOTONIC, self.NONBLOCK_CLOEXEC)
        libc.timerfd_settime(self.descriptor, 0, self.SPEC, None)
        self.ticked = asyncio.Event()
        asyncio.get_running_loop().add_reader(self.descriptor, self.tick)

    def tick(self):
        os.read(self.descriptor, 8)
        self.ticked.set()

    async def wait(self):
        if self.descriptor is None:
            await asyncio.sleep(0.001)
            return
        await self.ticked.wait()
        self.ticked.clear()

    def stop(self):
        if self.descriptor is not None:
            asyncio.get_running_loop().remove_reader(self.descriptor)
            os.close(self.descriptor)


async def ticks(during, clocks):
    """What a timer of 1 ms tells until that has ended, and its result."""
    latest, most = {"late": 0, "busy": 0, "waited": 0, "held": 0}, {"busy": 0, "waited": 0, "held": 0}
    running = asyncio.ensure_future(during)
    timer = Timer()
    await timer.wait()
    before = clocks.read()
    while not running.done():
        await timer.wait()
        now = clocks.read()
        interval, busy, waited = (b - a for a, b in zip(before, now))
        before = now
        late = max(0, interval - 1)
        tick = {"late": late, "busy": busy, "waited": waited, "held": max(0, late - busy - waited)}
        latest = max(latest, tick, key=lambda one: one["late"])
        most = {key: max(most[key], tick[key]) for key in most}
    timer.stop()
    told = {"late_ms": latest["late"], **{f"late_{key}_ms": latest[key] for key in most},
            **{f"{key}_ms": most[key] for key in most}}
    return told, running.result()


def computed():
    """Seconds, by all threads, and by children that ended."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


async def measure(what):
    import runcible

    clocks = Clocks()
    alone, _ = await ticks(asyncio.sleep(0.5), clocks)
    begin, used = time.perf_counter(), computed()
    if what.startswith("wait:"):
        opening = asyncio.sleep(float(what[5:]))
    else:
        opening = runcible.discover_async() if what == "discover" else runcible.Backend.open(what)
    running = asyncio.ensure_future(opening)
    await asyncio.sleep(0)  # its first step, which begins it
    call = time.perf_counter() - begin
    told, opened = await ticks(running, clocks)
    seconds, used = time.perf_counter() - begin, computed() - used
    closing = time.perf_counter()
    if isinstance(opened, runcible.Backend):
        opened.close()
    closed = time.perf_counter() - closing
    return {**told, "late_alone_ms": alone["late_ms"], "call_ms": call * 1e3, "close_ms": closed * 1e3, "seconds": seconds,
            "processors": used / seconds}


def run(command):
    with tempfile.TemporaryDirectory() as cache:
        environment = dict(os.environ, XDG_CACHE_HOME=cache)
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return {"error": lines[-1] if lines else f"status {done.returncode}"}
    return json.loads(done.stdout)


@contextlib.contextmanager
def load(program, threads):
    with subprocess.Popen([program, f"spin:{threads}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as spinning:
        spinning.stdout.readline()
        yield
        spinning.stdin.close()


def measure_row(command, what, program, count):
    """The medians of that many runs, each followed by one beside the load."""
    runs = []
    for _ in range(count):
        one = run(command(what))
        if "error" in one:
            return one
        threads = min(max(1, math.ceil(one["processors"] - 0.1)), os.cpu_count())
        with load(program, threads):
            beside = run(command(f"wait:{one['seconds']}"))
        if "error" in beside:
            return beside
        runs.append({**one, "load_ms": beside["late_ms"], "load_threads": threads})
    return {key: round(statistics.median(one[key] for one in runs), 3) for key in runs[0]}


def verdict(row):
    calls = max(row["call_ms"], row["close_ms"])
    if max(row["late_ms"], calls) <= GOAL_MS:
        return "met"
    return "waited" if max(row["busy_ms"], row["held_ms"], calls) <= GOAL_MS else "MISSED"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=HERE.parent / "build" / "release")
    parser.add_argument("--node", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--specs", nargs="+", default=["discover", "auto", "cpu", "opencl", "vulkan"])
    parser.add_argument("--languages", nargs="+", default=["C", "Python", "Node"])
    parser.add_argument("--output", type=Path)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(asyncio.run(measure(args.measure))))
        return

    program = args.build / "bin" / "bench" / "opening"
    languages = {"C": lambda what: [program, what]}
    if importlib.util.find_spec("runcible"):
        languages["Python"] = lambda what: [sys.executable, __file__, "--measure", what]
    if args.node:
        languages["Node"] = lambda what: ["node", HERE / "opening.mjs", args.node.resolve(), what]
    rows = []
    print(f"{'ms':18}{''.join(f'{name:>8}' for name in COLUMNS)}  goal: {GOAL_MS} ms")
    for name, command in languages.items():
        for what in args.specs if name in args.languages else []:
            row = measure_row(command, what, program, args.runs)
            rows.append({"language": name, "what": what, **row})
            if "error" in row:
                print(f"{name:8}{what:10}{row['error']}")
                continue
            cells = (f"{row[key]:8.2f}" if key in row else f"{'-':>8}" for key in COLUMNS.values())
            print(f"{name:8}{what:10}{''.join(cells)}  {verdict(row)}", flush=True)
    if args.output:
        args.output.write_text(json.dumps({"runs": args.runs, "load": os.getloadavg()[0], "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
