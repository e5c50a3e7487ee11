"""Measures ops of tensors on the cpu backend beside NumPy and PyTorch.

    bench/tensors.py [--threads 2] [--rounds 15] [--json FILE] [NAME ...]

Run it with a Python that has the package `runcible` (bindings/python), numpy and
torch. Each case is run by all in turns, with the same threads, and the medians are
printed in microseconds, with the ratio of the best of the others to Runcible's:
above 1 Runcible is faster. NAME chooses cases by what their names contain.

With --processor, which takes one thread, the processor time of the calling
thread is measured instead of the clock: that is what it takes on a busy machine.

Results are released before the next are made, as in a program that computes in
a loop, and every library computes a new one each time.
"""

import argparse
import json
import os
import statistics
import sys
import time


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


def cases(numpy, torch, runcible, backend):
    """Of each: the name, the goal of the ratio, and functions by library."""
    random = numpy.random.default_rng(1)

    def three(*shapes):
        arrays = [random.standard_normal(s, dtype=numpy.float32) for s in shapes]
        return [
            arrays,
            [torch.from_numpy(a) for a in arrays],
            [runcible.Tensor(a, backend) for a in arrays],
        ]

    for n in (256, 1024, 2048):
        (a, b), (ta, tb), (ra, rb) = three((n, n), (n, n))
        yield f"matmul {n}^3", 0.95, {
            "numpy": lambda: a @ b,
            "torch": lambda: ta @ tb,
            "runcible": lambda: ra @ rb,
        }
        yield f"matmul {n}^3, b transposed", 0.95, {
            "numpy": lambda: a @ b.T,
            "torch": lambda: ta @ tb.T,
            "runcible": lambda: ra @ rb.transpose(0, 1),
        }
        yield f"matmul {n}^3, a transposed", 0.95, {
            "numpy": lambda: a.T @ b,
            "torch": lambda: ta.T @ tb,
            "runcible": lambda: ra.transpose(0, 1) @ rb,
        }
    for n in (3, 1000, 100_000, 10_000_000):
        (a, b), (ta, tb), (ra, rb) = three(n, n)
        yield f"add of {n}", 1 / 3 if n < 1000 else 1.0, {
            "numpy": lambda: a + b,
            "torch": lambda: ta + tb,
            "runcible": lambda: ra + rb,
        }
        if n < 1000:
            continue
        yield f"relu of {n}", 1.0, {
            "numpy": lambda: numpy.maximum(a, 0),
            "torch": lambda: torch.relu(ta),
            "runcible": lambda: ra.relu(),
        }
        yield f"sum of {n}", 1.0, {
            "numpy": lambda: a.sum(),
            "torch": lambda: ta.sum(),
            "runcible": lambda: ra.sum(),
        }
    for shape in ((64, 1000), (1000, 10_000)):
        (a,), (ta,), (ra,) = three(shape)

        def softmax():
            e = numpy.exp(a - a.max(axis=1, keepdims=True))
            return e / e.sum(axis=1, keepdims=True)

        yield f"softmax of {shape[0]} x {shape[1]}", 1.0, {
            "numpy": softmax,
            "torch": lambda: torch.softmax(ta, 1),
            "runcible": lambda: ra.softmax(1),
        }
    for channels, outputs, size, window, padding in (
        (32, 64, 128, 3, 0),
        (32, 64, 128, 3, 1),
        (64, 64, 56, 1, 0),
        (128, 128, 28, 3, 1),
        (3, 32, 224, 3, 1),
    ):
        _, (tx, tw), (rx, rw) = three(
            (1, channels, size, size), (outputs, channels, window, window)
        )
        yield f"conv2d {channels}->{outputs} {window}x{window} of {size}^2" + (
            ", padded" if padding else ""
        ), 1.0, {
            "torch": lambda: torch.nn.functional.conv2d(tx, tw, padding=padding),
            "runcible": lambda: rx.conv2d(rw, padding=(padding, padding)),
        }


def seconds(function, calls, clock):
    begin = clock()
    for _ in range(calls):
        function()
    return (clock() - begin) / calls


def measure(functions, rounds, clock):
    """The median seconds of a call, by library."""
    calls = {}
    for name, function in functions.items():
        function()
        calls[name] = max(1, min(20_000, int(0.01 / max(seconds(function, 1, clock), 1e-7))))
    times = {name: [] for name in functions}
    for i in range(rounds):
        order = list(functions.items())
        for name, function in order[i % len(order) :] + order[: i % len(order)]:
            times[name].append(seconds(function, calls[name], clock))
    return {name: statistics.median(values) for name, values in times.items()}


def main():
    options = arguments()
    # Read when the libraries are loaded.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(options.threads)
    import numpy
    import torch

    import runcible

    torch.set_num_threads(options.threads)
    backend = runcible.Backend("cpu", threads=options.threads)
    print(
        f"{options.threads} threads; numpy {numpy.__version__}, torch "
        f"{torch.__version__}, load {os.getloadavg()[0]:.1f}"
    )
    print(f"{'us':34} {'numpy':>10} {'torch':>10} {'runcible':>10} ratio  goal")
    clock = time.thread_time if options.processor else time.perf_counter
    report = {}
    missed = 0
    for name, goal, functions in cases(numpy, torch, runcible, backend):
        if options.names and not any(part in name for part in options.names):
            continue
        with torch.inference_mode():
            times = measure(functions, options.rounds, clock)
        ratio = min(t for n, t in times.items() if n != "runcible") / times["runcible"]
        missed += ratio < goal
        report[name] = times
        cells = [
            f"{times[n] * 1e6:10.2f}" if n in times else f"{'':10}"
            for n in ("numpy", "torch", "runcible")
        ]
        print(f"{name:34} {' '.join(cells)} {ratio:5.2f} {goal:5.2f}", flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"threads": options.threads, "seconds": report}, file, indent=1)
    print(f"{missed} of {len(report)} below their goals")


if __name__ == "__main__":
    sys.exit(main())
