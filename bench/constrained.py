#!/usr/bin/env python3
"""Measures what a schema costs while a model generates, and what forced tokens
save: rates under a schema, by the rate without one.

    constrained.py [options] RUNCIBLE MODEL.gguf

The text under the first schema is one long string, of whose tokens hardly any
is forced, so that every token takes a step of the model and a mask. The second
schema has long keys in a fixed order and short values. All three are measured
alternately; what is printed is the median of the rounds' own ratios, with the
smallest and the largest.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

LONG_STRING = {"type": "object", "required": ["text"], "additionalProperties": False,
               "properties": {"text": {"type": "string", "minLength": 100000}}}

KEYS = ["name_of_the_customer_in_full", "was_the_order_paid_in_advance", "number_of_items_ordered_in_all",
        "is_the_address_of_delivery_abroad", "may_the_parcel_be_left_with_a_neighbour",
        "number_of_earlier_complaints_by_the_customer"]
LONG_KEYS = {"type": "array", "minItems": 100, "items": {
    "type": "object", "required": KEYS, "additionalProperties": False,
    "properties": {key: {"type": "boolean"} for key in KEYS}}}


def run(program, arguments, options):
    command = [program, "run", arguments.model, "-p", "Once", "-n", str(arguments.tokens), "--temp", "0", "--json",
               "--backend", arguments.backend, *options]
    if arguments.threads:
        command += ["--threads", str(arguments.threads)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout)


def rate(report):
    return report["generated_tokens"] / report["generate_us"] * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="RUNCIBLE")
    parser.add_argument("model", metavar="MODEL.gguf")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--tokens", type=int, default=200, help="of each text")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sides = {"none": ["--ignore-eos"]}
        for name, schema in (("long string", LONG_STRING), ("long keys", LONG_KEYS)):
            path = Path(folder) / f"{name}.json"
            path.write_text(json.dumps(schema))
            sides[name] = ["--schema", str(path)]
        ratios = {name: [] for name in sides if name != "none"}
        for number in range(arguments.rounds):
            print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr)
            reports = {name: run(arguments.program, arguments, sides[name])
                       for name in sorted(sides, reverse=number % 2 == 1)}
            for name, found in ratios.items():
                found.append(rate(reports[name]) / rate(reports["none"]))
    print(f"without a schema: {rate(reports['none']):.1f} tokens/s in the last round")
    for name, found in ratios.items():
        report = reports[name]
        print(f"{name}: {statistics.median(found):.3f} ({min(found):.3f} to {max(found):.3f}) of that, with "
              f"{report['forced_tokens']} of {report['generated_tokens']} tokens forced")


if __name__ == "__main__":
    main()
