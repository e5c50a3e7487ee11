#!/usr/bin/env python3
"""Measures two builds of Runcible on the same files, alternately, so that a
change that makes anything slower shows.

    before_after.py [options] BEFORE AFTER MODEL.gguf...

BEFORE and AFTER are build folders with bin/runcible. What is printed for each
rate is the median of the rounds' own ratios, and the smallest and the largest
of them: what lies between 1 / 0.97 and 0.97 is the noise of a shared machine.
Ends with 1 if the median of a rate is below --least.
"""

import argparse
import os
import statistics
import sys
from pathlib import Path

from compare import SHALLOW, Ours, numbers, rates
from report import print_table


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, metavar="BEFORE")
    parser.add_argument("after", type=Path, metavar="AFTER")
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL.gguf")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--level", default="native", help="hold both to an instruction set level of the cpu backend")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--prompts", type=numbers, default=[64, 256])
    parser.add_argument("--batches", type=numbers, default=[1, 8])
    parser.add_argument("--tokens", type=int, default=32, help="of each generation")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--least", type=float, default=0.97, help="the smallest ratio of rates that passes")
    return parser.parse_args()


def measure(model, sides, arguments):
    """The reports of both, as pairs, one for each round."""
    decodes = [{"batch": batch, "depth": SHALLOW} for batch in arguments.batches]
    pairs = []
    for number in range(arguments.rounds):
        print(f"{model.name}: round {number + 1} of {arguments.rounds}", file=sys.stderr)
        found = {}
        for name in sorted(sides, reverse=number % 2 == 1):
            # The first load after another program's is not measured.
            sides[name].measure(model, [4], decodes[:1], 2)
            found[name] = sides[name].measure(model, arguments.prompts, decodes, arguments.tokens)
        pairs.append((found["before"], found["after"]))
    return pairs


def figures(report):
    """All that is compared, by name; more is better for those with a rate."""
    return {**rates(report), "load, s": report["load_seconds"], "resident, MB": report["resident_bytes"] / 1e6}


def rows_of(model, pairs):
    pairs = [(figures(before), figures(after)) for before, after in pairs]
    for key in pairs[0][0]:
        ratios = [after[key] / before[key] for before, after in pairs]
        yield {"model": model.name.removesuffix(".gguf"), "what": key, "rate": key.startswith(("prompt", "decode")),
               "before": statistics.median(before[key] for before, _ in pairs),
               "after": statistics.median(after[key] for _, after in pairs),
               "ratio": statistics.median(ratios), "range": f"{min(ratios):.3f} to {max(ratios):.3f}"}


def main():
    arguments = parse_arguments()
    sides = {name: Ours(build / "bin" / "runcible", arguments.threads, arguments.level, arguments.backend)
             for name, build in (("before", arguments.before), ("after", arguments.after))}
    rows = [row for model in arguments.models for row in rows_of(model, measure(model, sides, arguments))]
    print_table(["model", "what", "before", "after", "after / before", "of the rounds"],
                [[row["model"], row["what"], f"{row['before']:.4g}", f"{row['after']:.4g}", f"{row['ratio']:.3f}",
                  row["range"]] for row in rows])
    return 1 if any(row["rate"] and row["ratio"] < arguments.least for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
