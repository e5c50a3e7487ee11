#!/usr/bin/env python3
"""Compiles the kernels of the backend rocm for GPUs, and prints what they take.

    bench/code_objects.py BUILD CLANG GPU...

BUILD is a folder of a build with the backend cuda, which lists the variants that ops ask
for (build/release). CLANG is Clang with the target amdgcn, such as that of Debian's
package clang-19. A GPU is one such as gfx1100. Constants that follow from the model get
the values of bench/ptx.py. A kernel is a row: its variants, the most vector and scalar
registers of a work-item, the most bytes that a group shares and that a work-item keeps in
memory, and the most registers that it spills; and the seconds that all of its variants
took. Fails if CLANG refuses one.
"""

import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from ptx import GROUPS, OPEN, kernels

BACKENDS = pathlib.Path(__file__).resolve().parent.parent / "backends"
# As backends/rocm/comgr.cc gives them.
OPTIONS = ["-x", "cl", "-cl-std=CL1.2", "-O3", "-w", "-cl-no-stdinc", "-ffp-contract=off",
           "-DFAST_FMA", "-cl-fp32-correctly-rounded-divide-sqrt",
           "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-S", "-o", "-"]
NUMBERS = ("vgpr_count", "sgpr_count", "group_segment_fixed_size",
           "private_segment_fixed_size", "vgpr_spill_count", "sgpr_spill_count")


def compiled(build, clang, gpu, name, definitions, text):
    """Returns NUMBERS of a kernel, and seconds."""
    begin = time.monotonic()
    values = dict(OPEN, GROUP_ITEMS=GROUPS.get(name, OPEN["GROUP_ITEMS"]))
    named = re.findall(r"-D(\w+)=RC_OPEN_", text[:text.index("\n")])
    folders = [BACKENDS / "rocm/kernels", BACKENDS / "streams/kernels",
               BACKENDS / "gpu/kernels/c", build / "backends/formats"]
    with tempfile.NamedTemporaryFile("w", suffix=".cl") as source:
        source.write(f'#include "prelude_rocm.cl"\n#include "{name}.cl"\n')
        source.flush()
        done = subprocess.run(
            [clang, *OPTIONS, f"-mcpu={gpu}", *(f"-I{folder}" for folder in folders),
             *definitions.split(), *(f"-D{one}={values[one]}" for one in named),
             source.name],
            capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{name} {definitions} for {gpu}: {done.stderr.strip()}")
    return [*(int(re.search(rf"\.{key}: +(\d+)", done.stdout)[1]) for key in NUMBERS),
            time.monotonic() - begin]


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    build, clang, *gpus = sys.argv[1:]
    build = pathlib.Path(build)
    # Those by matrix cores are of CUDA alone.
    all_kernels = [kernel for kernel in kernels(build / "backends/cuda/kernels.ptx")
                   if "-DWAY=2" not in kernel[1]]
    refused = []
    for gpu in gpus:
        rows = collections.defaultdict(list)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = {pool.submit(compiled, build, clang, gpu, *kernel): kernel[0]
                    for kernel in all_kernels}
            for job, name in jobs.items():
                try:
                    rows[name].append(job.result())
                except RuntimeError as error:
                    refused.append(str(error))
        print(f"\n{gpu}: {sum(map(len, rows.values()))} kernels\n")
        print("| kernel | variants | vector registers | scalar | shared | in memory | "
              "spilled | seconds |")
        print("|---|---|---|---|---|---|---|---|")
        for name, found in sorted(rows.items()):
            most = [max(column) for column in zip(*found)]
            print(f"| {name} | {len(found)} | {most[0]} | {most[1]} | {most[2]} | "
                  f"{most[3]} | {most[4] + most[5]} | "
                  f"{sum(row[6] for row in found):.1f} |")
    if refused:
        sys.exit("\n".join(refused))


if __name__ == "__main__":
    main()
