#!/usr/bin/env python3
"""Prints which tests were skipped in the last run of ctest, and why.

    tests/skipped.py BUILD_FOLDER...

Fails where a reason is not one of those below: what tests/run.sh installs must not
be missing, so that a test that is skipped for want of it shows a broken set-up.
A test that was skipped in one program and ran in another was not skipped.
"""

import collections
import os
import pathlib
import re
import sys

# Reasons that are expected, by their first words, and what they come from.
EXPECTED = [
    (r"label kFull", "tests/run.sh full runs it"),
    (r"label \w+", "the other builds run it"),
    (r"the collection of test data is not here", "a clone has no such folder"),
    (r"(this|the) processor ", "the processor"),
    (r"the level's kernels need", "the processor"),
    (r"needs? AVX|there is no level ", "the processor"),
    (r"the system reports no nodes", "the machine"),
    (r"root may read", "run as root"),
    (r"there is no (zsh|fish|tint)", "not installed"),
    (r"(not with|only) ?.*sanitizer", "the other builds run it"),
    (r"sanitizers? ", "the other builds run it"),
    (r"the address sanitizer itself", "the other builds run it"),
    (r"nothing is repeated in this build", "the other builds run it"),
    (r"only (processors|software devices)", "not for this device"),
    (r"no sub-groups of eight", "not for this device"),
    (r"no backend is needed", "not for this device"),
    (r"folders become what newer files have", "not for this file"),
    (r"there is a platform that does without", "not for this platform"),
]
# Those of an implementation of WebGPU, which `tests/run.sh full` installs.
WEBGPU = r".*(webgpu|WebGPU)"


def skipped(log):
    """Yields (test, reason) of each test that a log of ctest says was skipped."""
    reason = []
    collecting = False
    ran = set(re.findall(r"^\[       OK \] (\S+)", log, re.MULTILINE))
    for line in log.splitlines():
        if re.match(r"\[ RUN      \]", line):
            reason, collecting = [], False
        elif re.search(r": Skipped$", line):
            collecting = True
        elif match := re.match(r"\[  SKIPPED \] (\S+?)(?:,| \()", line):
            if match[1] not in ran:
                yield match[1], " ".join(reason).strip()
            reason, collecting = [], False
        elif collecting:
            reason.append(line.strip())


def explanation(reason, full, folder):
    if pathlib.Path(folder).name == "tsan" and "leaves out the backends for GPUs" in reason:
        return "built without the backends for GPUs; the other builds run it"
    if "this build of Runcible is for sanitizers" in reason:
        return "the other builds run it"
    if "undefined symbol" in reason:
        return None
    for pattern, text in EXPECTED:
        if re.match(pattern, reason):
            return text
    if not full and re.match(WEBGPU, reason):
        return "tests/run.sh full installs an implementation"
    return None


def main():
    full = os.environ.get("TEST_SET") == "full"
    unexpected = 0
    for folder in sys.argv[1:]:
        log = pathlib.Path(folder) / "Testing" / "Temporary" / "LastTest.log"
        tests = collections.defaultdict(list)
        for test, reason in skipped(log.read_text(errors="replace")):
            tests[reason].append(test)
        total = sum(map(len, tests.values()))
        print(f"{folder}: {total} skipped")
        for reason, names in sorted(tests.items(), key=lambda item: -len(item[1])):
            why = explanation(reason, full, folder)
            unexpected += why is None
            print(f"{len(names):6}  {reason or 'no reason'}")
            print(f"        {why or 'NOT EXPECTED: tests/run.sh installs what it wants'}"
                  f"; {names[0]}{' ...' if len(names) > 1 else ''}")
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
