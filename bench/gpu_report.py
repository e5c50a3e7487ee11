#!/usr/bin/env python3
"""Puts what gpu.sh left in a folder into tables (Markdown) and one JSON file.

    gpu_report.py FOLDER [OUTPUT.json]
    gpu_report.py --choose DEVICES.json [--all] BACKEND...    names the devices to try

The exit status is 1 if a command or a test failed. The file names neither host
nor paths: it is meant to be published.
"""

import datetime
import json
import re
import statistics
import sys
from pathlib import Path

from report import ROOT, revision

PROCESSORS = ("cpu", "software")


def choose(devices, backends, everything):
    return [one["id"] for backend in backends for one in devices
            if one["backend"] == backend and one["available"] and not one["reason"]
            and (everything or one["kind"] not in PROCESSORS)]


def markdown(title, head, rows):
    if rows:
        print(f"\n### {title}\n")
        for row in [head, ["---"] * len(head)] + rows:
            print("| " + " | ".join("" if cell is None else str(cell).replace("|", "\\|") for cell in row) + " |")


def figure(value, digits=4):
    return float(f"{value:.{digits}g}")


def text_of(value):
    return f"{value:.0f}" if value >= 1000 else f"{figure(value):g}"


class Run:
    """A line of the file `runs`: one command, and what it said."""

    def __init__(self, folder, line):
        self.what, self.device, self.model, _, status, seconds, name = line.split("\t")
        self.status, self.seconds = int(status), int(seconds)
        self.output = (folder / f"{name}.out").read_text(errors="replace")
        self.errors = (folder / f"{name}.err").read_text(errors="replace")
        self.answer = None  # JSON
        start = re.search(r"^[\[{]", self.output, re.MULTILINE)
        try:
            if start and self.status == 0:
                self.answer = json.loads(self.output[start.start():])
        except ValueError:
            pass  # of tests, or broken
        if self.answer and self.what == "bench":
            self.answer = self.answer["results"]

    def failure(self):
        if self.status == 0:
            return None
        if self.status == 124:
            return f"out of time after {self.seconds} s"
        how = f"ended by signal {self.status - 128}" if self.status > 128 else f"exit status {self.status}"
        # Tests say on stdout why; what is on stderr is their drivers'.
        said = [] if self.what in ("tests", "conformance") else self.errors.strip().splitlines()
        return how + (f": {without_paths(said[-1])}" if said else "")


def without_paths(text):
    """Of a message: they are whoever's they are, names of files stay."""
    return re.sub(r"(?<![\w.])[./]*/\S*/", "", text)[:400]


def counted(run):
    """Of a self-test, or of a log of GoogleTest, which may have been cut off."""
    found = {"passed": 0, "skipped": {}, "failed": {}}
    if run.what == "self-test":
        for device in (run.answer or {"devices": []})["devices"]:
            found["passed"] += sum(one["outcome"] == "passed" for one in device["tests"])
            found["skipped"].update({one["test"]: "it does not support the op" for one in device["tests"] if one["outcome"] == "lacking"})
            found["failed"].update({one["test"]: one["reason"] for one in device["tests"] if one["outcome"] == "failed"})
            found["failed"].update({"all": device["failure"]} if device["failure"] else {})
        return found
    running, said = None, []
    for line in run.output.splitlines():
        if begin := re.match(r"\[ RUN +\] (\S+)", line):
            running, said = begin[1], []
        elif end := re.match(r"\[ +(OK|SKIPPED|FAILED) +\] (\S+?),? .*\(\d+ ms\)$", line):
            if end[1] == "OK":
                found["passed"] += 1
            else:
                found[end[1].lower()][end[2]] = without_paths(" ".join(said))
            running = None
        elif running:
            said.append(line.strip())
    if running:
        found["cut_off_in"] = running
    return found


def measurements(run):
    """Of one model: (what, who, tokens per second) each."""
    for one in run.answer:
        if run.what == "bench":
            what = (f"prompt of {one['length']}" if one["kind"] == "prompt" else
                    f"{one['batch']} at once, behind {one['depth']}")
            yield what, run.device, one["tokens_per_second"]
            continue
        # Without a GPU it computes on the processor and names its backend all the same.
        peer = f"llama.cpp, {one['backends']}" if one["gpu_info"] else "llama.cpp, processor"
        if one["n_gen"]:
            # It begins behind nothing where Runcible has four tokens.
            yield f"1 at once, behind {one['n_depth'] or 4}", peer, one["avg_ts"]
        elif not one["n_depth"]:
            yield f"prompt of {one['n_prompt']}", peer, one["avg_ts"]


def rates_of(runs, models, limits):
    """By model, by what was measured, by device or peer: the median of the rounds, and what part of the rate
    of large ops reading the weights has."""
    rates = {}
    for run in runs:
        for what, who, rate in measurements(run):
            rates.setdefault(run.model, {}).setdefault(what, {}).setdefault(who, []).append(rate)
    for model, rows in rates.items():
        for what, row in rows.items():
            for who, found in row.items():
                row[who] = {"tokens_per_second": figure(statistics.median(found)), "rounds": len(found)}
                memory = limits.get(who, {}).get("bytes_per_second")
                if memory and "at once" in what:
                    steps = statistics.median(found) / int(what.split()[0])
                    row[who]["share"] = figure(steps * models[model]["bytes_per_token"] / memory, 3)
    return rates


def ops_of(runs):
    ops = {}
    for run in runs:
        for one in run.answer["benchmarks"]:
            row = {key: figure(one[key]) for key in ("us_per_op", "GB/s", "Gop/s") if key in one}
            if one.get("error_occurred"):
                row["error"] = one["error_message"]
            ops.setdefault(one["name"].removesuffix("/real_time"), {})[run.device] = row
    return ops


def choice_of(answer):
    taken = [one["chosen"] for one in answer["calls"]]
    return {**{key: answer[key] for key in ("lost", "best_seconds", "chosen_seconds", "choosing_seconds")},
            "chosen": {name: taken.count(name) for name in sorted(set(taken))}}


def collect(folder):
    runs = [Run(folder, line) for line in (folder / "runs").read_text().splitlines()]
    of = lambda *what: [run for run in runs if run.what in what]
    answers = lambda *what: [run for run in of(*what) if run.answer]
    listed = {one.get("id", one["backend"]): one for one in runs[0].answer["devices"]}
    chosen = (folder / "chosen").read_text().split()
    models = {path.name[len("model."):-len(".json")]: json.loads(path.read_text()) for path in folder.glob("model.*.json")}
    limits = {run.device: run.answer["devices"][0] for run in answers("calibrate")}
    tests = {what: {run.device: {**counted(run), "seconds": run.seconds, "failure": run.failure()} for run in of(what)}
             for what in ("tests", "conformance", "self-test")}
    failures = [[run.what, run.device, run.model, run.failure()] for run in runs
                if run.failure() and not (run.status == 1 and tests.get(run.what, {}).get(run.device, {}).get("failed"))]
    failures += [[what, device, "", f"{name}: {why}"] for what, all_of in tests.items()
                 for device, one in all_of.items() for name, why in one["failed"].items()]
    peers = answers("llama-bench")
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "revision": revision(),
        "llama.cpp": peers[0].answer[0].get("build_commit") if peers else None,
        "devices": {name: {key: listed[name][key] for key in ("name", "kind", "driver", "total_memory", "features")}
                    for name in chosen},
        "not_here": {name: one["reason"] for name, one in listed.items() if one["reason"]},
        "tests": tests, "limits": limits, "models": models,
        "rates": rates_of(answers("bench", "llama-bench"), models, limits),
        "ops": ops_of(answers("ops")),
        "choice": {run.device: choice_of(run.answer) for run in answers("choice")},
        "failures": failures,
    }


def print_tables(result):
    devices = result["devices"]
    markdown("Devices", ["device", "name", "driver"],
             [[name, f"{one['name']} ({one['kind']})", one["driver"]] for name, one in devices.items()])
    markdown("Tests", ["tests", "of", "passed", "skipped", "failed", "s", ""],
             [[what, device, one["passed"], len(one["skipped"]), len(one["failed"]), one["seconds"], one["failure"]]
              for what, all_of in result["tests"].items() for device, one in all_of.items()])
    columns = {"launch_seconds": ("smallest op, us", 1e6), "bytes_per_second": ("memory, GB/s", 1e-9),
               "upload_bytes_per_second": ("to it, GB/s", 1e-9), "download_bytes_per_second": ("from it, GB/s", 1e-9),
               "multiplications_per_second_f32": ("F32, 10^9/s", 1e-9),
               "multiplications_per_second_f16": ("F16, 10^9/s", 1e-9),
               "multiplications_per_second_blocks": ("Q4_K, 10^9/s", 1e-9)}
    markdown("What large ops reach", ["device"] + [title for title, _ in columns.values()],
             [[device] + [text_of(one[key] * scale) if one.get(key) else "" for key, (_, scale) in columns.items()]
              for device, one in result["limits"].items()])

    def grid(title, head, table, cell):
        names = [name for name in devices if any(name in row for _, row in table)]
        names += sorted({name for _, row in table for name in row} - set(names))
        markdown(title, head + names, [first + [cell(row[name]) if name in row else "" for name in names]
                                       for first, row in table])

    grid("Tokens per second (share)", ["model", ""],
         [([model, what], row) for model, rows in result["rates"].items() for what, row in rows.items()],
         lambda one: text_of(one["tokens_per_second"]) + (f" ({one['share']:.0%})" if "share" in one else ""))
    grid("Ops: us (GB/s, 10^9 ops/s)", ["op"], [([op], row) for op, row in result["ops"].items()],
         lambda one: one.get("error") or text_of(one["us_per_op"]) + (
             f" ({text_of(one['GB/s'])}, {text_of(one['Gop/s'])})" if "GB/s" in one else ""))
    markdown("Choice", ["beside cpu", "lost", "chosen"],
             [[device, f"{one['lost']:.1%}", ", ".join(f"{name} {count}" for name, count in one["chosen"].items())]
              for device, one in result["choice"].items()])
    markdown("Failed", ["what", "of", "model", "why"], result["failures"])


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--choose"] and len(arguments) > 2:
        listed = json.loads(Path(arguments[1]).read_text())["devices"]
        print("\n".join(choose(listed, [name for name in arguments[2:] if name != "--all"], "--all" in arguments)))
        return 0
    if len(arguments) not in (1, 2):
        sys.exit(__doc__.strip())
    result = collect(Path(arguments[0]))
    print_tables(result)
    first = next(iter(result["devices"].values()))["name"].lower()
    output = ROOT / "bench" / "results" / ("gpu-" + re.sub(r"[^a-z0-9]+", "-", first).strip("-") + ".json")
    output = Path(arguments[1]) if len(arguments) == 2 else output
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(result, indent=1) + "\n")
    print(f"\nfigures in {output}; {len(result['failures'])} failures")
    return 1 if result["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
