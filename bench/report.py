#!/usr/bin/env python3
"""Puts the raw figures of run.sh into one table and one JSON file.

    report.py RAW_FOLDER [OUTPUT.json]

The file names neither host nor paths: it is meant to be published.
"""

import datetime
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

LATENESS_GOAL_MS = 5
CANCEL_GOAL_MS = 50


def read(path):
    return json.loads(path.read_text())


def by_model(raw, kind):
    """The contents of KIND.MODEL.json by MODEL."""
    found = {}
    for path in sorted(raw.glob(f"{kind}.*.json")):
        found[path.name[len(kind) + 1:-len(".json")]] = read(path)
    return found


def best_limits(found):
    """Several measurements of one machine; the best of each rate."""
    best = dict(found[0])
    for rate in ("read_gb_per_s", "int8_tera_ops", "f32_tera_ops"):
        best[rate] = round(max(one[rate] for one in found), 3)
    return best


def revision():
    try:
        out = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty", "--tags"],
                             capture_output=True, text=True, check=True)
        return out.stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def ops(raw):
    """Google Benchmark's file without the context, which names host and paths."""
    path = raw / "ops.json"
    if not path.exists():
        return None
    rows = []
    for one in read(path)["benchmarks"]:
        row = {"op": one["name"].removesuffix("/real_time")}
        if one.get("error_occurred"):
            row["error"] = one["error_message"]
        for counter in ("us_per_op", "GB/s", "Gop/s", "share"):
            if counter in one:
                row[counter] = float(f"{one[counter]:.4g}")
        rows.append(row)
    return rows


def with_limits(machine, model, engine):
    """The rates of one model beside what the machine allows at most.

    Decoding reads the weights once per step: the limit grows with the number
    of sequences until the products take longer than the reading. Quantized
    weights multiply at the int8 rate, F16 and BF16 at half of it, F32 at that
    of f32, which the others reach as well.
    """
    int8, f32 = machine["int8_tera_ops"] * 1e12, machine["f32_tera_ops"] * 1e12
    rates = {"F32": f32, "F16": max(int8 / 2, f32), "BF16": max(int8 / 2, f32)}
    rate = rates.get(model["type"], int8)
    load = model["bytes_per_token"] / (machine["read_gb_per_s"] * 1e9)
    rows = []
    for one in engine:
        prompt = one["kind"] == "prompt"
        at_once = one["length"] if prompt else one["batch"]
        products = at_once * model["weights_per_token"]
        if prompt:
            products -= (at_once - 1) * model["output_weights"]
        limit = at_once / max(load, 2 * products / rate if rate else 0)
        rows.append({**one, "limit": round(limit, 2), "share": round(one["tokens_per_second"] / limit, 4)})
    return rows


def print_table(head, rows):
    lines = [head] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for i, line in enumerate(lines):
        print("  ".join(cell.rjust(width) if i and c else cell.ljust(width)
                        for c, (cell, width) in enumerate(zip(line, widths))).rstrip())
    print()


def verdict(value, goal):
    return "" if value is None else "met" if value < goal else "MISSED"


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.strip())
    raw = Path(sys.argv[1])
    machine = best_limits([read(path) for path in sorted(raw.glob("machine.*.json"))])
    models = by_model(raw, "model")
    result = {
        "machine": machine,
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "revision": revision(),
        # More than a little means that other programs took part of the machine.
        "load_average_at_end": round(os.getloadavg()[1], 2),
        "models": models,
    }

    engine = {name: with_limits(machine, models[name], report["results"])
              for name, report in by_model(raw, "engine").items()}
    if engine:
        result["engine"] = engine
        print_table(["model", "what", "tok/s", "limit", "share"],
                    [[name,
                      f"prompt of {one['length']}" if one["kind"] == "prompt" else f"decode, {one['batch']} at once",
                      f"{one['tokens_per_second']:.1f}", f"{one['limit']:.0f}", f"{one['share']:.1%}"]
                     for name, rows in engine.items() for one in rows])

    loops = {}
    for name in models:
        for loop in ("uv", "epoll"):
            path, cancel = raw / f"loop.{loop}.{name}.json", raw / f"cancel.{loop}.{name}.json"
            if path.exists():
                loops.setdefault(name, {})[loop] = {"requests": read(path), "cancel": read(cancel)}
    if loops:
        result["event_loop"] = loops
        rows = []
        for name, both in loops.items():
            for loop, one in both.items():
                late = one["requests"]["worst_late_ms"]
                heard = one["cancel"].get("cancel_ms")
                rows.append([name, loop, one["requests"]["end_events"], late, one["requests"].get("worst_late_alone_ms", "-"),
                             verdict(late, LATENESS_GOAL_MS), one["requests"]["slowest_start_ms"], "-" if heard is None else heard,
                             verdict(heard, CANCEL_GOAL_MS)])
        print_table(["model", "loop", "requests", "worst lateness, ms", "without the engine", f"< {LATENESS_GOAL_MS}",
                     "slowest start, ms", "cancel, ms", f"< {CANCEL_GOAL_MS}"], rows)

    single = ops(raw)
    if single:
        result["ops"] = single
        print_table(["op", "us per op", "GB/s", "Gop/s", "share"],
                    [[one["op"]] + ([one["error"], "", "", ""] if "error" in one else
                                    [one["us_per_op"], one.get("GB/s", ""), one.get("Gop/s", ""),
                                     f"{one['share']:.1%}" if "share" in one else ""])
                     for one in single])

    if len(sys.argv) > 2:
        path = Path(sys.argv[2])
    else:
        name = f"{machine['processor']} {machine['family']} {machine['model']} {machine['threads']} threads"
        path = ROOT / "bench" / "results" / (re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") + ".json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(f"read {machine['read_gb_per_s']:.1f} GB/s, int8 {machine['int8_tera_ops']:.2f} Top/s, "
          f"f32 {machine['f32_tera_ops']:.2f} Top/s; figures in {path}")


if __name__ == "__main__":
    main()
