#!/usr/bin/env python3
"""Compiles the kernels of the backend cuda for GPUs, and prints what they take.

    bench/ptx.py KERNELS PTXAS ARCHITECTURE...

KERNELS is the file kernels.ptx of a build (build/release/backends/cuda), and PTXAS the
assembler of a CUDA toolkit or of the package nvidia-cuda-nvcc-cu12 of PyPI. An
architecture is one such as sm_90. Constants that are open get the values below. A kernel
is a row: its variants, the most registers of a thread, the most bytes that a group
shares, that a thread keeps in local memory, and that it spills; and the seconds that all
of its variants took. Fails if PTXAS refuses one.
"""

import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time

# Of a model with heads of 128 and states of 128, in groups as the backend has them.
OPEN = {"GROUP_ITEMS": 128, "SLICES": 4, "HEAD": 128, "VALUE": 128, "VALUE_STEP": 128,
        "STATE": 128, "WIDTH": 4, "GATHER": 1, "CENTER": 1, "PER_ITEM": 64, "FUNCTION": 4,
        "KIND": 4, "EXPERT_GROUPS": 8}
GROUPS = {"attention": 32, "attend": 32, "choose": 1}


def kernels(path):
    """Yields the name, the definitions and the text of each."""
    with open(path, encoding="utf-8") as file:
        rest = file.read()
    while rest:
        title, rest = rest.split("\n", 1)
        size, name, definitions = title.split(" ", 2)
        yield name, definitions, rest[:int(size)]
        rest = rest[int(size):]


def complete(name, text):
    values = dict(OPEN, GROUP_ITEMS=GROUPS.get(name, OPEN["GROUP_ITEMS"]))
    return re.sub(r"RC_OPEN_([A-Z_]+)", lambda match: str(values[match[1]]), text)


def assemble(ptxas, architecture, name, definitions, text):
    """Returns registers, shared bytes, local bytes, spilled bytes, seconds."""
    begin = time.monotonic()
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as source:
        source.write(complete(name, text))
        source.flush()
        done = subprocess.run(
            [ptxas, f"-arch={architecture}", "-v", source.name, "-o", os.devnull],
            capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    if done.returncode != 0:
        raise RuntimeError(f"{name} {definitions} for {architecture}: {said.strip()}")
    numbers = {key: int(match[1]) if (match := re.search(pattern, said)) else 0
               for key, pattern in (("registers", r"Used (\d+) registers"),
                                    ("shared", r"(\d+) bytes smem"),
                                    ("local", r"(\d+) bytes stack frame"),
                                    ("spilled", r"(\d+) bytes spill stores"))}
    return [*numbers.values(), time.monotonic() - begin]


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    path, ptxas, *architectures = sys.argv[1:]
    all_kernels = list(kernels(path))
    refused = []
    for architecture in architectures:
        needed = int(re.sub(r"\D", "", architecture))
        rows = collections.defaultdict(list)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = {}
            for name, definitions, text in all_kernels:
                if int(re.search(r"\.target sm_(\d+)", text)[1]) > needed:
                    continue
                jobs[pool.submit(assemble, ptxas, architecture, name, definitions,
                                 text)] = name
            for job, name in jobs.items():
                try:
                    rows[name].append(job.result())
                except RuntimeError as error:
                    refused.append(str(error))
        print(f"\n{architecture}: {sum(map(len, rows.values()))} kernels, "
              f"{os.path.getsize(path) / 1e6:.1f} MB of PTX\n")
        print("| kernel | variants | registers | shared | local | spilled | seconds |")
        print("|---|---|---|---|---|---|---|")
        for name, found in sorted(rows.items()):
            most = [max(column) for column in zip(*found)]
            print(f"| {name} | {len(found)} | {most[0]} | {most[1]} | {most[2]} | "
                  f"{most[3]} | {sum(row[4] for row in found):.1f} |")
    if refused:
        sys.exit("\n".join(refused))


if __name__ == "__main__":
    main()
