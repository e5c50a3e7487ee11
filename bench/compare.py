#!/usr/bin/env python3
"""Measures Runcible and llama.cpp on the same files, alternately, and prints
the ratios beside the goals.

    compare.py --venv FOLDER [options] MODEL.gguf...

The peer is llama-cpp-python, built for this processor from the package that
PyPI has. FOLDER is a virtual environment for it, made here if it is not there;
building takes many minutes. Models are those of write_model, with what it
printed beside them as MODEL.gguf.json; bench/run.sh makes them. Other files are
measured too, but have neither limits nor goals.

The figures are written as JSON, and drawn beside it by plot.py.

Each round measures one after the other, taking turns in who is first; what is
printed is the median of the rounds, and for ratios the median of the rounds'
own ratios; shares of the machine's limits are those of its limits before and
after the round. Figures that could not be measured say so and why.
"""

import argparse
import datetime
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from report import ROOT, best_limits, print_table, revision, with_limits

PEER_VERSION = "0.3.36"
# Options of llama.cpp's own build: for the processor at hand, or for a level
# that both are held to.
PEER_BUILDS = {
    "native": "-DGGML_NATIVE=ON",
    "avx2": "-DGGML_NATIVE=OFF -DGGML_SSE42=ON -DGGML_AVX=ON -DGGML_AVX2=ON -DGGML_BMI2=ON -DGGML_FMA=ON "
            "-DGGML_F16C=ON -DGGML_AVX512=OFF",
}

# At least: times the peer, and part of the machine's limit.
PROMPT_LENGTHS = (256, 512)
FEW_BITS = ("IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "TQ1_0", "TQ2_0", "Q1_0", "Q2_K_S",
            "Q3_K_S")
OTHER_TYPES = ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K_S", "Q5_K_S", "Q5_K_M", "Q6_K", "IQ4_NL", "IQ4_XS", "MXFP4", "NVFP4")
GOALS = {
    **{(name, "prompt"): (1.3, None) for name in FEW_BITS + OTHER_TYPES},
    **{(name, "decode 1"): (1.5, None) for name in FEW_BITS},
    **{(name, "decode 1"): (1.0, None) for name in OTHER_TYPES},
    ("Q4_K_M", "prompt"): (3.6, 0.60),
    ("Q4_K_M", "decode 1"): (2.2, 0.90),
    ("Q4_K_M", "decode 8"): (4.0, None),
    ("Q4_K_M", "decode 16"): (4.5, None),
    ("Q8_0", "prompt"): (5.0, 0.60),
    ("Q8_0", "decode 1"): (1.8, 0.90),
    **{(name, "decode 1"): (1.0, 0.85) for name in ("Q6_K", "Q5_K", "Q5_K_M", "Q4_0", "IQ4_NL", "MXFP4")},
}
AVX2_GOALS = {("Q4_K_M", "prompt"): (1.5, None), ("Q4_K_M", "decode 1"): (1.2, None)}
LOAD_SECONDS_PER_GB = 1.0
SHALLOW = 4  # tokens before a generation at no context to speak of


def prepare_peer(folder, level):
    """The Python of the environment, with the peer installed in it."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    # Building for one level and measuring another must not happen unnoticed.
    built = folder / "peer-build"
    wanted = f"llama-cpp-python {PEER_VERSION} {level}\n"
    if built.exists() and built.read_text() == wanted:
        return python
    print(f"building llama-cpp-python {PEER_VERSION} ({level}) into {folder}", file=sys.stderr)
    environment = {
        "CMAKE_BUILD_PARALLEL_LEVEL": str(len(os.sched_getaffinity(0))),
        **os.environ,
        "CMAKE_ARGS": PEER_BUILDS[level] + " -DLLAVA_BUILD=OFF",
    }
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-cache-dir",
                    "--no-binary", "llama-cpp-python", f"llama-cpp-python=={PEER_VERSION}"],
                   check=True, env=environment)
    built.write_text(wanted)
    return python


def run(command, environment=None):
    """What the command printed, as JSON, with the peak of its resident memory."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen([str(word) for word in command], stdout=out, stderr=err,
                                   env={**os.environ, **(environment or {})})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode != 0:
            lines = err.read().strip().splitlines()
            raise RuntimeError(lines[-1] if lines else f"exit status {process.returncode}")
        return {**json.loads(out.read()), "resident_bytes": usage.ru_maxrss * 1024}


def draw(python, figures):
    """The plot of a file of figures, beside it. matplotlib goes where the peer is."""
    if subprocess.run([python, "-c", "import matplotlib"], stderr=subprocess.DEVNULL).returncode != 0:
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "matplotlib"],
                       check=True)
    subprocess.run([python, ROOT / "bench" / "plot.py", figures], check=True)


class Ours:
    name = "runcible"

    def __init__(self, program, threads, level, backend="cpu"):
        self.program = program
        self.threads = threads
        self.backend = backend
        self.environment = {} if level == "native" else {"RUNCIBLE_ISA": level}

    def measure(self, model, prompts, decodes, tokens):
        """`runcible bench` measures all batches at all depths: one process for
        each depth."""
        merged = None
        depths = sorted({one["depth"] for one in decodes})
        for depth in depths:
            batches = [one["batch"] for one in decodes if one["depth"] == depth]
            first = merged is None
            lengths = prompts if first and prompts else [16]
            context = max([depth + tokens] + lengths) + 1
            report = run([self.program, "bench", model, "--json", "--backend", self.backend,
                          "--threads", self.threads, "--context", context, "--prompts", ",".join(map(str, lengths)),
                          "--batches", ",".join(map(str, batches)), "--depths", depth, "-n", tokens,
                          "--repetitions", 1], self.environment)
            if first:
                merged = report
            else:
                merged["results"] += [one for one in report["results"] if one["kind"] == "decode"]
        return merged


class Peer:
    name = "llama.cpp"

    def __init__(self, python, threads):
        self.python = python
        self.threads = threads

    def measure(self, model, prompts, decodes, tokens):
        jobs = {"threads": self.threads, "prompts": prompts, "decodes": decodes, "tokens": tokens, "repetitions": 1}
        return run([self.python, ROOT / "bench" / "peer.py", model, json.dumps(jobs)])


def key_of(one):
    return f"prompt {one['length']}" if one["kind"] == "prompt" else f"decode {one['batch']} behind {one['depth']}"


def rates(report):
    return {key_of(one): one["tokens_per_second"] for one in report["results"]}


def measure(model, sides, arguments, machine_tool):
    """For each side its reports, one per round; ours with the limits of the
    machine right before and after, the better of each."""
    decodes = [{"batch": batch, "depth": SHALLOW} for batch in arguments.batches]
    decodes += [{"batch": 1, "depth": depth} for depth in arguments.depths]
    reports = {side.name: [] for side in sides}
    failures = {}
    for number in range(arguments.rounds):
        for side in sides if number % 2 == 0 else reversed(sides):
            if side.name in failures:
                continue
            print(f"{model.name}: round {number + 1} of {arguments.rounds}, {side.name}", file=sys.stderr)
            try:
                ours = side.name == Ours.name
                around = [limits(machine_tool, arguments.threads)] if ours else []
                # What the host of a virtual machine takes to back memory at its
                # first touch is not the time of a load: one load goes unmeasured.
                side.measure(model, [4], [{"batch": 1, "depth": SHALLOW}], 2)
                report = side.measure(model, arguments.prompts, decodes, arguments.tokens)
                if ours:
                    around.append(limits(machine_tool, arguments.threads))
                    report["machine"] = best_limits(around) if all(around) else None
                reports[side.name].append(report)
            except (RuntimeError, ValueError) as error:
                failures[side.name] = str(error)
                print(f"{side.name} failed: {error}", file=sys.stderr)
    return reports, failures


def share_of(report, description, key):
    """Of the machine's limit, as it was when the report was made."""
    found = with_limits(report["machine"], description, report["results"])
    return next((one.get("share") for one in found if key_of(one) == key), None)


def rows_of(model, description, reports, level):
    """One row for each figure: measured, limit, and goal."""
    ours, peers = reports[Ours.name], reports[Peer.name]
    kind = (description or {}).get("type")
    goals = GOALS if level == "native" else AVX2_GOALS
    # Rates, medians of the rounds.
    found = [{**one, "tokens_per_second": statistics.median(rates(report)[key_of(one)] for report in ours)}
             for one in ours[0]["results"]]
    limited = description and level == "native" and all(report["machine"] for report in ours)
    rows = []
    for one in found:
        key = key_of(one)
        row = {"model": model, "what": key, "tokens_per_second": round(one["tokens_per_second"], 2)}
        pairs = [(rates(a)[key], rates(b)[key]) for a, b in zip(ours, peers) if key in rates(b)]
        if pairs:
            row["peer_tokens_per_second"] = round(statistics.median(b for _, b in pairs), 2)
            row["ratio"] = round(statistics.median(a / b for a, b in pairs), 3)
        shallow = one["kind"] == "prompt" or one["depth"] == SHALLOW
        shares = [share_of(report, description, key) for report in ours] if limited and shallow else [None]
        if None not in shares:
            row["share"] = round(statistics.median(shares), 3)
        name = "prompt" if one["kind"] == "prompt" else f"decode {one['batch']}"
        is_goal = shallow and (one["kind"] == "decode" or one["length"] in PROMPT_LENGTHS)
        if is_goal and (kind, name) in goals:
            row["goal_ratio"], row["goal_share"] = goals[kind, name]
        rows.append(row)
    return rows


def depth_rows(model, reports, arguments):
    """Decoding far into a context may take longer by the reading of the bytes
    that are behind it, and a tenth."""
    rows = []
    for depth in arguments.depths:
        times = [(1 / rates(one)[f"decode 1 behind {SHALLOW}"], 1 / rates(one)[f"decode 1 behind {depth}"])
                 for one in reports[Ours.name]]
        row = {"model": model, "what": f"time behind {depth} / behind {SHALLOW}",
               "measured": round(statistics.median(b / a for a, b in times), 3)}
        peers = [rates(one)[f"decode 1 behind {SHALLOW}"] / rates(one)[f"decode 1 behind {depth}"]
                 for one in reports[Peer.name]]
        if peers:
            row["peer"] = round(statistics.median(peers), 3)
        if all(report["machine"] for report in reports[Ours.name]):
            goals = []
            for (shallow, _), report in zip(times, reports[Ours.name]):
                extra = report["cache_bytes"] / report["cache_tokens"] * (depth - SHALLOW)
                goals.append(1.1 * (1 + extra / (report["machine"]["read_gb_per_s"] * 1e9) / shallow))
            row["goal"] = round(statistics.median(goals), 3)
        rows.append(row)
    return rows


def cost_rows(model, reports):
    rows = []
    ours, peers = reports[Ours.name], reports[Peer.name]
    giga = ours[0]["weight_bytes"] / 1e9
    load = {"model": model, "what": "load, s per GB", "goal": LOAD_SECONDS_PER_GB,
            "measured": round(statistics.median(one["load_seconds"] for one in ours) / giga, 3)}
    memory = {"model": model, "what": "resident, MB",
              "measured": round(max(one["resident_bytes"] for one in ours) / 1e6),
              "goal": round((ours[0]["weight_bytes"] * 1.05 + ours[0]["cache_bytes"]) / 1e6 + 64)}
    if peers:
        load["peer"] = round(statistics.median(one["load_seconds"] for one in peers) / giga, 3)
        memory["peer"] = round(max(one["resident_bytes"] for one in peers) / 1e6)
    return [load, memory]


def verdict(met):
    return "met" if met else "MISSED"


def show(rows, others):
    def goal_text(row):
        ratio, share = row.get("goal_ratio"), row.get("goal_share")
        return " and ".join(([f"{ratio:.1f} x"] if ratio else []) + ([f"{share:.0%}"] if share else []))

    def verdict_text(row):
        parts = []
        if row.get("goal_ratio"):
            parts.append(verdict(row["ratio"] >= row["goal_ratio"]) if "ratio" in row else "no peer")
        if row.get("goal_share"):
            parts.append(verdict(row["share"] >= row["goal_share"]) if "share" in row else "no limit")
        return " and ".join(parts)

    print_table(["model", "what", "tok/s", "llama.cpp", "ratio", "of the limit", "goal", ""],
                [[row["model"], row["what"], f"{row['tokens_per_second']:.1f}",
                  f"{row['peer_tokens_per_second']:.1f}" if "ratio" in row else "not measured",
                  f"{row['ratio']:.2f} x" if "ratio" in row else "",
                  f"{row['share']:.1%}" if "share" in row else "", goal_text(row), verdict_text(row)] for row in rows])
    print_table(["model", "what", "measured", "llama.cpp", "at most", ""],
                [[row["model"], row["what"], row["measured"], row.get("peer", "not measured"), row.get("goal", ""),
                  verdict(row["measured"] <= row["goal"]) if "goal" in row else ""] for row in others])


def numbers(text):
    return [int(part) for part in text.split(",") if part]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL.gguf")
    parser.add_argument("--venv", required=True, type=Path, help="the virtual environment of the peer")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "bench",
                        help="the build of Runcible, with its benchmarks (default: that of bench/run.sh)")
    parser.add_argument("--level", choices=sorted(PEER_BUILDS), default="native",
                        help="hold both to an instruction set level; each needs an environment of its own")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--prompts", type=numbers, default=[256, 512])
    parser.add_argument("--batches", type=numbers, default=[1, 8, 16])
    parser.add_argument("--depths", type=numbers, default=[4096], help="contexts to decode at, beside none")
    parser.add_argument("--tokens", type=int, default=32, help="of each generation")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path, help="for the JSON (default: in bench/results)")
    arguments = parser.parse_args()
    if arguments.depths and 1 not in arguments.batches:
        parser.error("--depths compares with --batches 1")
    return arguments


def limits(machine, threads):
    if not machine.exists():
        print(f"there is no {machine}: no limits are measured", file=sys.stderr)
        return None
    found = run([machine, "--threads", threads])
    del found["resident_bytes"]
    return found


def main():
    arguments = parse_arguments()
    python = prepare_peer(arguments.venv.resolve(), arguments.level)
    sides = [Ours(arguments.build / "bin" / "runcible", arguments.threads, arguments.level),
             Peer(python, arguments.threads)]
    machine_tool = arguments.build / "bin" / "bench" / "machine"
    measured = [(model, *measure(model, sides, arguments, machine_tool)) for model in arguments.models]
    found = [report["machine"] for _, reports, _ in measured for report in reports[Ours.name] if report["machine"]]
    machine = best_limits(found) if found else None

    rows, others, failed = [], [], {}
    for model, reports, failures in measured:
        name = model.name.removesuffix(".gguf")
        failed.update({f"{name}, {side}": reason for side, reason in failures.items()})
        if not reports[Ours.name]:
            continue
        described = Path(f"{model}.json")
        description = json.loads(described.read_text()) if described.exists() else None
        rows += rows_of(name, description, reports, arguments.level)
        others += depth_rows(name, reports, arguments) + cost_rows(name, reports)
    peer = next((one for _, reports, _ in measured for one in reports[Peer.name]), {})
    result = {
        "machine": machine or {"processor": platform.processor(), "threads": arguments.threads},
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "revision": revision(),
        "level": arguments.level,
        "rounds": arguments.rounds,
        # More than a little means that other programs took part of the machine.
        "load_average_at_end": round(os.getloadavg()[1], 2),
        "peer": {"name": "llama-cpp-python", "version": peer.get("version"), "build": peer.get("build")},
        "rates": rows,
        "costs": others,
        "not_measured": failed,
    }
    show(rows, others)
    for what, reason in failed.items():
        print(f"not measured: {what}: {reason}")
    path = arguments.output
    if path is None:
        machine_name = "{processor} {family} {model}".format(**machine) if machine else platform.machine()
        name = f"compare {machine_name} {arguments.threads} threads {arguments.level}"
        path = ROOT / "bench" / "results" / (re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") + ".json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(f"load average {result['load_average_at_end']}; figures in {path}")
    draw(python, path)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
