"""Renders templates on conversations by chance with Jinja and with Runcible,
and shows what differs.

    python compare.py PROGRAM [--count 500] [--seed 0] TEMPLATE...

PROGRAM is render.cc as the build makes it, build/release/bin/render_chat.
"""

import argparse
import json
import subprocess
import sys

import conversations
import oracle


class Program:
    """The other side: lines of JSON in and out."""

    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def render(self, variables, template=None):
        now = oracle.NOW
        line = {"variables": variables, "now": [now.year, now.month, now.day, now.hour, now.minute, now.second]}
        if template is not None:
            line["template"] = template
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def compare(program, path, seeds):
    with open(path, encoding="utf-8", newline="") as file:
        source = file.read()
    try:
        template = oracle.ENVIRONMENT.from_string(source)
    except Exception:
        template = source
    errors = different = 0
    for seed in seeds:
        variables = conversations.conversation(seed)
        want = oracle.render(template, variables)
        got = program.render(variables, source if seed == seeds[0] else None)
        errors += want is None
        if got.get("text") != want:
            different += 1
            if different <= 2:
                print(f"{path}, seed {seed}:\n  Jinja:    {want!r}\n  Runcible: {got!r}")
    return errors, different


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("templates", nargs="+")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    program = Program(options.program)
    seeds = range(options.seed, options.seed + options.count)
    all_different = 0
    for path in options.templates:
        errors, different = compare(program, path, seeds)
        all_different += different
        print(f"{different} of {options.count} differ, {errors} are errors: {path}")
    print(f"{all_different} differences in {len(options.templates)} templates")
    sys.exit(all_different != 0)


if __name__ == "__main__":
    main()
