"""Measures ops of tensors on the cpu backend beside NumPy and PyTorch.

    bench/tensors.py [--threads 2] [--rounds 15] [--json FILE] [NAME ...]

Run it with a Python that has the package `runcible` (bindings/python), numpy and
torch. Each library is a process of its own, which is stopped while another has its
turn: threads of OpenBLAS look for work, on a processor each, long after the last.
Each case is run by all in turns, with the same threads, each turn after a call that
is not measured, and the medians are printed in microseconds, with the ratio of the
best of the others to Runcible's: above 1 Runcible is faster. NAME chooses cases by
what their names contain.

With --processor, which takes one thread, the processor time of the calling
thread is measured instead of the clock: that is what it takes on a busy machine.

Results are released before the next are made, as in a program that computes in
a loop, and every library computes a new one each time.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import signal
import statistics
import sys
import time

LIBRARIES = ("numpy", "torch", "runcible")
TURN = 0.03  # seconds, about


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--processor", action="store_true",
                        help="processor time, with one thread")
    parser.add_argument("--json", help="write the medians there")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    if options.processor:
        options.threads = 1
    return options


def cases(make):
    """Of each: the name, the goal of the ratio, and functions by library. `make`
    makes the caller's library a tensor of an array; only its own function may be
    called."""
    import numpy

    torch = sys.modules.get("torch")
    random = numpy.random.default_rng(1)

    def some(*shapes):
        return [make(random.standard_normal(s, dtype=numpy.float32)) for s in shapes]

    for n in (256, 1024, 2048):
        a, b = some((n, n), (n, n))
        yield f"matmul {n}^3", 0.95, {
            "numpy": lambda: a @ b,
            "torch": lambda: a @ b,
            "runcible": lambda: a @ b,
        }
        yield f"matmul {n}^3, b transposed", 0.95, {
            "numpy": lambda: a @ b.T,
            "torch": lambda: a @ b.T,
            "runcible": lambda: a @ b.transpose(0, 1),
        }
        yield f"matmul {n}^3, a transposed", 0.95, {
            "numpy": lambda: a.T @ b,
            "torch": lambda: a.T @ b,
            "runcible": lambda: a.transpose(0, 1) @ b,
        }
    for n in (3, 1000, 100_000, 10_000_000):
        a, b = some(n, n)
        yield f"add of {n}", 1 / 3 if n < 1000 else 1.0, {
            "numpy": lambda: a + b,
            "torch": lambda: a + b,
            "runcible": lambda: a + b,
        }
        if n < 1000:
            continue
        yield f"relu of {n}", 1.0, {
            "numpy": lambda: numpy.maximum(a, 0),
            "torch": lambda: torch.relu(a),
            "runcible": lambda: a.relu(),
        }
        yield f"sum of {n}", 1.0, {
            "numpy": lambda: a.sum(),
            "torch": lambda: a.sum(),
            "runcible": lambda: a.sum(),
        }
    for shape in ((64, 1000), (1000, 10_000)):
        (a,) = some(shape)

        def softmax():
            e = numpy.exp(a - a.max(axis=1, keepdims=True))
            return e / e.sum(axis=1, keepdims=True)

        yield f"softmax of {shape[0]} x {shape[1]}", 1.0, {
            "numpy": softmax,
            "torch": lambda: torch.softmax(a, 1),
            "runcible": lambda: a.softmax(1),
        }
    for channels, outputs, size, window, padding in (
        (32, 64, 128, 3, 0),
        (32, 64, 128, 3, 1),
        (64, 64, 56, 1, 0),
        (128, 128, 28, 3, 1),
        (3, 32, 224, 3, 1),
    ):
        x, w = some((1, channels, size, size), (outputs, channels, window, window))
        yield f"conv2d {channels}->{outputs} {window}x{window} of {size}^2" + (
            ", padded" if padding else ""
        ), 1.0, {
            "torch": lambda: torch.nn.functional.conv2d(x, w, padding=padding),
            "runcible": lambda: x.conv2d(w, padding=(padding, padding)),
        }


def seconds(function, calls, clock):
    begin = clock()
    for _ in range(calls):
        function()
    return (clock() - begin) / calls


def worker(library, options, pipe):
    """Measures one library: answers each message, the number of a case and of
    calls, with the seconds of a call; without calls, how many are enough."""
    # Read when the libraries are loaded.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(options.threads)
    within = contextlib.nullcontext()
    if library == "numpy":
        import numpy

        version, make = numpy.__version__, lambda array: array
    elif library == "torch":
        import torch

        torch.set_num_threads(options.threads)
        within = torch.inference_mode()
        version, make = torch.__version__, torch.from_numpy
    else:
        import runcible

        backend = runcible.Backend("cpu", threads=options.threads)
        version = runcible.__version__
        make = lambda array: runcible.Tensor(array, backend)  # noqa: E731
    clock = time.thread_time if options.processor else time.perf_counter
    every = enumerate(cases(make))
    pipe.send(version)
    number = -1
    with within:
        while (message := pipe.recv()) is not None:
            while number < message[0]:
                number, (_, _, functions) = next(every)
            function = functions[library]
            if message[1] is None:
                function()
                once = max(seconds(function, 1, clock), 1e-7)
                pipe.send(max(1, min(20_000, int(TURN / once))))
            else:
                # What was stopped has nothing in the caches, and threads asleep.
                function()
                pipe.send(seconds(function, message[1], clock))


def measure(number, workers, rounds):
    """The median seconds of a call, by library, of processes that are stopped."""

    def ask(name, calls):
        process, pipe = workers[name]
        os.kill(process.pid, signal.SIGCONT)
        pipe.send((number, calls))
        answer = pipe.recv()
        os.kill(process.pid, signal.SIGSTOP)
        return answer

    calls = {name: ask(name, None) for name in workers}
    times = {name: [] for name in workers}
    order = list(workers)
    for i in range(rounds):
        turn = i % len(order)
        for name in order[turn:] + order[:turn]:
            times[name].append(ask(name, calls[name]))
    return {name: statistics.median(values) for name, values in times.items()}


def main():
    options = arguments()
    context = multiprocessing.get_context("spawn")
    workers, versions = {}, []
    for library in LIBRARIES:
        ours, theirs = context.Pipe()
        process = context.Process(target=worker, args=(library, options, theirs), daemon=True)
        process.start()
        versions.append(f"{library} {ours.recv()}")
        os.kill(process.pid, signal.SIGSTOP)
        workers[library] = process, ours
    print(f"{options.threads} threads; {', '.join(versions)}, load {os.getloadavg()[0]:.1f}")
    print(f"{'us':34} {'numpy':>10} {'torch':>10} {'runcible':>10} ratio  goal")
    report = {}
    missed = 0
    try:
        for number, (name, goal, functions) in enumerate(cases(lambda array: None)):
            if options.names and not any(part in name for part in options.names):
                continue
            times = measure(number, {name: workers[name] for name in functions}, options.rounds)
            ratio = min(t for n, t in times.items() if n != "runcible") / times["runcible"]
            missed += ratio < goal
            report[name] = times
            cells = [f"{times[n] * 1e6:10.2f}" if n in times else f"{'':10}" for n in LIBRARIES]
            print(f"{name:34} {' '.join(cells)} {ratio:5.2f} {goal:5.2f}", flush=True)
    finally:
        # Also after an interrupt: who is stopped cannot be ended.
        for process, pipe in workers.values():
            os.kill(process.pid, signal.SIGCONT)
            pipe.send(None)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"threads": options.threads, "seconds": report}, file, indent=1)
    print(f"{missed} of {len(report)} below their goals")


if __name__ == "__main__":
    sys.exit(main())
