"""The cases that every language runs."""

import json
import os

import pytest

from conformance import CASES, Runner

_NAMES = [case["name"] for case in json.loads(CASES.read_text())["cases"]]


@pytest.fixture(scope="module")
def report():
    """Receives the names of cases that passed; see bindings/README.md."""
    lines = ["language\tPython\n"]
    yield lambda name: lines.append(f"passed\t{name}\n")
    path = os.environ.get("RUNCIBLE_CASES_REPORT")
    if path:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(lines)


@pytest.mark.parametrize("name", _NAMES)
def test_case(name, tmp_path, report):
    runner = Runner(tmp_path)
    case = next(c for c in runner.document["cases"] if c["name"] == name)
    runner.run(case)
    report(name)
