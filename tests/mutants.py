#!/usr/bin/env python3
"""Plants one fault at a time into the sources and reports which the tests find.

    tests/mutants.py --count 200 [--seed 1] [--only src/text] [--build build/mutants]

A fault is another operator, bound or constant, or a statement that is left out. Of
each room of src/ and backends/ the tests of the same room are built and run: a fault
is found if one of them fails, does not end, or the program crashes; faults that do
not compile are not counted. Survivors are printed as patches; each wants a test, or
changes nothing.

The build is a separate one, with little optimisation. The sources are restored after
each fault, also when the script is interrupted; commit or copy changes before.
"""

import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Room -> test programs, the longest prefix of a path wins.
ROOMS = {
    "src/base": ["test_base"],
    "src/base/config": ["test_base_config"],
    "src/tensor": ["test_tensor"],
    "src/files": ["test_files"],
    "src/files/ggml": ["test_files_ggml", "test_text"],
    "src/files/gguf": ["test_files_gguf"],
    "src/files/safetensors": ["test_files_safetensors"],
    "src/files/sentencepiece": ["test_files_sentencepiece"],
    "src/files/folder": ["test_files_folder", "test_model"],
    "src/files/importance": ["test_files_importance"],
    "src/files/quantize": ["test_files_quantize"],
    "src/hub": ["test_hub"],
    "src/text": ["test_text"],
    "src/text/chat": ["test_text_chat"],
    "src/text/grammar": ["test_text_grammar"],
    "src/runtime": ["test_runtime"],
    "src/compute": ["test_compute", "test_api"],
    "src/model": ["test_model"],
    "src/engine": ["test_engine"],
    "src/api": ["test_api", "test_api_embedding", "test_api_discovery"],
    "backends/reference": ["test_conformance", "test_backends"],
    "backends/common": ["test_backends"],
    "backends/cpu": ["test_backends", "test_conformance"],
}

# (pattern, replacements): what is found in code outside comments and strings.
OPERATORS = [
    (r"(?<=[\w)\]] )<(?= [\w(*&-])", ["<="]),
    (r"(?<=[\w)\]] )<=(?= )", ["<"]),
    (r"(?<=[\w)\]] )>(?= [\w(*&-])", [">="]),
    (r"(?<=[\w)\]] )>=(?= )", [">"]),
    (r"(?<= )==(?= )", ["!="]),
    (r"(?<= )!=(?= )", ["=="]),
    (r"(?<= )&&(?= )", ["||"]),
    (r"(?<= )\|\|(?= )", ["&&"]),
    (r"(?<=[\w)\]] )\+(?= [\w(])", ["-"]),
    (r"(?<=[\w)\]] )-(?= [\w(])", ["+"]),
    (r"\bstd::min\b", ["std::max"]),
    (r"\bstd::max\b", ["std::min"]),
    (r"\bcontinue;", ["break;"]),
    (r"\breturn true;", ["return false;"]),
    (r"\breturn false;", ["return true;"]),
    (r"(?<=[(&|] )!(?=\w)|(?<=\()!(?=\w)", [""]),
    (r"(?<=[\w)\]] [-+<>=*] )\d+(?=[;)\], ])", ["+1"]),
    (r"(?<=[<>=]= )\d+(?=[;)\], ])", ["+1"]),
    # A statement that is left out.
    (r"(?m)(?<=^)( +)[\w.>\-\[\]]+(\([^;{}\n]*\)| [-+|&]?= [^;{}\n]*);(?=$)", [r"\1;"]),
    (r"(?m)(?<=^)( +)(\+\+|--)[\w.>\-\[\]]+;(?=$)", [r"\1;"]),
]


def blanked(text):
    """The text with comments and strings replaced by spaces of the same length."""
    pattern = r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def faults_of(path):
    """Yields (start, end, replacement) of every fault that a file can have."""
    text = path.read_text()
    code = blanked(text)
    for pattern, replacements in OPERATORS:
        for match in re.finditer(pattern, code):
            line_start = code.rfind("\n", 0, match.start()) + 1
            line = code[line_start : code.find("\n", match.start())].lstrip()
            # Templates, includes and declarations of constants are not behaviour.
            if line.startswith(("#", "template", "static_assert", "using ", "return")) and (
                replacements[0] == r"\1;"
            ):
                continue
            if line.startswith(("#", "template", "static_assert", "using ")):
                continue
            for replacement in replacements:
                if replacement == "+1":
                    new = str(int(match[0]) + 1)
                elif replacement.startswith("\\1"):
                    new = match[1] + ";"
                else:
                    new = replacement
                yield match.start(), match.end(), new


def room_of(path):
    name = path.relative_to(ROOT).as_posix()
    rooms = [room for room in ROOMS if name.startswith(room + "/")]
    return max(rooms, key=len) if rooms else None


def all_faults(only):
    for top in ("src", "backends"):
        for path in sorted((ROOT / top).rglob("*.cc")):
            name = path.relative_to(ROOT).as_posix()
            if room_of(path) and (not only or name.startswith(tuple(only))):
                for fault in faults_of(path):
                    yield path, *fault


def run(command, seconds):
    """The exit status, None after `seconds`."""
    try:
        return subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=seconds
        ).returncode
    except subprocess.TimeoutExpired:
        return None


def suites_beside(path):
    """A filter for the suites of the tests named after a source, or ""."""
    relative = path.relative_to(ROOT)
    folder = ROOT / "tests" / (relative.relative_to("src") if relative.parts[0] == "src" else relative).parent
    suites = set()
    for test in folder.glob(f"{path.stem}*_test.cc"):
        suites |= set(re.findall(r"^(?:TYPED_)?TEST(?:_F|_P)?\((\w+),", test.read_text(), re.M))
    return ":".join(f"{pattern}{suite}.*" for suite in sorted(suites) for pattern in ("", "*/"))


def describe(path, text, start, end, new):
    line = text.count("\n", 0, start) + 1
    before = text.splitlines()[line - 1]
    column = start - (text.rfind("\n", 0, start) + 1)
    after = before[:column] + new + before[column + end - start :]
    return f"{path.relative_to(ROOT)}:{line}\n-{before}\n+{after}"


class Trial:
    def __init__(self, build, jobs):
        self.build = build
        self.jobs = str(jobs)
        self.seconds = {}  # of each test program without a fault

    def configure(self):
        subprocess.run(
            ["cmake", "-S", ROOT, "-B", self.build, "-G", "Ninja",
             "-DCMAKE_BUILD_TYPE=Debug",
             # A place beyond the end of a container is found too.
             "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -D_GLIBCXX_ASSERTIONS",
             "-DRUNCIBLE_BUILD_TESTS=ON", "-DRUNCIBLE_CPU_LEVELS=baseline"],
            check=True, stdout=subprocess.DEVNULL)

    def compiles(self, programs):
        return run(["ninja", "-C", self.build, "-j", self.jobs, *programs], None) == 0

    def suites(self, program):
        """Filters, one per suite: as under ctest, each runs in its own process."""
        listed = subprocess.run([self.build / "bin" / program, "--gtest_list_tests"],
                                capture_output=True, text=True)
        return [line.split()[0] + "*" for line in listed.stdout.splitlines()
                if re.match(r"[\w/]+\.", line)] or ["*"]

    def passes(self, programs, suites=None, seconds=None):
        for program in programs:
            limit = seconds or 20 + 5 * self.seconds[program]
            for suite in [suites] if suites else self.suites(program):
                command = [self.build / "bin" / program, "--gtest_fail_fast", f"--gtest_filter={suite}"]
                if run(command, limit) != 0:
                    return False
        return True

    def prepare(self, programs):
        """Builds and times what is used, without a fault."""
        if not self.compiles(programs):
            sys.exit(f"tests/mutants.py: {' '.join(programs)} do not build")
        for program in programs:
            start = time.monotonic()
            if not self.passes([program], seconds=1500):
                sys.exit(f"tests/mutants.py: {program} fails without a fault")
            self.seconds[program] = time.monotonic() - start

    def outcome(self, path, start, end, new):
        text = path.read_text()
        programs = ROOMS[room_of(path)]
        try:
            path.write_text(text[:start] + new + text[end:])
            if not self.compiles(programs):
                return "does not compile"
            # Most faults are found by the tests of their own file.
            own = suites_beside(path)
            if own and not self.passes(programs, own):
                return "found"
            return "survives" if self.passes(programs) else "found"
        finally:
            path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", help="a folder or file")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=pathlib.Path,
                        help="a file for the outcomes; what it has already is not tried again")
    arguments = parser.parse_args()
    # Tests are those of every user.
    faults = list(all_faults(arguments.only))
    random.Random(arguments.seed).shuffle(faults)
    print(f"{len(faults)} possible faults", flush=True)
    trial = Trial(arguments.build, arguments.jobs)
    trial.configure()
    rows = []
    if arguments.json and arguments.json.exists():
        rows = json.loads(arguments.json.read_text())
    tried = {row["fault"] for row in rows}
    while faults and len(rows) < arguments.count:
        path, start, end, new = faults.pop()
        text = path.read_text()
        description = describe(path, text, start, end, new)
        if description in tried:
            continue
        programs = ROOMS[room_of(path)]
        missing = [p for p in programs if p not in trial.seconds]
        if missing:
            trial.prepare(missing)
        outcome = trial.outcome(path, start, end, new)
        if outcome == "does not compile":
            continue
        rows.append({"room": room_of(path), "outcome": outcome, "fault": description})
        print(f"{len(rows):4} {outcome}: {description}", flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps(rows, indent=1))
    found = sum(row["outcome"] == "found" for row in rows)
    for room in sorted({row["room"] for row in rows}):
        of_room = [row["outcome"] for row in rows if row["room"] == room]
        print(f"{room:28} {of_room.count('found'):4} of {len(of_room)} found")
    print(f"{found} of {len(rows)} found ({100 * found / max(1, len(rows)):.0f}%)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
