#!/usr/bin/env python3
"""The table of languages and cases in bindings/README.md, from the reports of the
runners.

    table.py [--check] REPORT.tsv...

Writes the table, or with --check fails if the file contains another one, or if a case
has neither passed nor been explained. A report has a line for the language and one
for each case, with tabs between the fields:

    language  Python
    passed    load the model in the box
    missing   fork a session             why the language can't
"""

import argparse
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
README = HERE.parent / "README.md"
BEGIN = "<!-- Made by conformance/table.py from what the tests reported. -->\n"
END = "<!-- End of the table. -->\n"


def read_report(path, cases):
    """Returns the language, and for each case None if it passed, or the reason."""
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line]
    languages = [fields[1] for fields in lines if fields[0] == "language"]
    if len(languages) != 1:
        sys.exit(f"{path}: {len(languages)} lines name the language, instead of one")
    found = {}
    for fields in lines:
        if fields[0] == "passed":
            found[fields[1]] = None
        elif fields[0] == "missing":
            found[fields[1]] = fields[2]
    unknown = found.keys() - set(cases)
    absent = [case for case in cases if case not in found]
    if unknown or absent:
        sys.exit(f"{path}: no such cases: {sorted(unknown)}; cases that were not reported: {absent}")
    return languages[0], found


def table(cases, reports):
    names = sorted(reports, key=str.lower)
    reasons = []
    rows = []
    for case in cases:
        cells = []
        for name in names:
            reason = reports[name][case]
            if reason is None:
                cells.append("yes")
                continue
            if reason not in reasons:
                reasons.append(reason)
            cells.append(f"no ({reasons.index(reason) + 1})")
        rows.append([case, *cells])
    lines = ["| " + " | ".join(row) + " |" for row in [["", *names], ["---"] * (len(names) + 1), *rows]]
    if reasons:
        lines += ["", *(f"{number}. {reason}" for number, reason in enumerate(reasons, 1))]
    return "".join(line + "\n" for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", nargs="+", type=Path, metavar="REPORT.tsv")
    parser.add_argument("--check", action="store_true", help="write nothing")
    arguments = parser.parse_args()
    document = json.loads((HERE / "cases.json").read_text(encoding="utf-8"))
    cases = [case["name"] for case in document["cases"]]
    made = table(cases, dict(read_report(path, cases) for path in arguments.reports))
    before, rest = README.read_text(encoding="utf-8").split(BEGIN)
    present, after = rest.split(END)
    if not arguments.check:
        README.write_text(before + BEGIN + made + END + after, encoding="utf-8")
    elif present != made:
        sys.exit(f"{README} does not show what the tests reported:\n{made}Run {Path(__file__).name} to write it.")
    print(made, end="")


if __name__ == "__main__":
    main()
