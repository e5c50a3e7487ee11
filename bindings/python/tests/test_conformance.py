"""The cases that every language runs."""

import json

import pytest

from conformance import CASES, Runner

_NAMES = [case["name"] for case in json.loads(CASES.read_text())["cases"]]


@pytest.mark.parametrize("name", _NAMES)
def test_case(name, tmp_path):
    runner = Runner(tmp_path)
    case = next(c for c in runner.document["cases"] if c["name"] == name)
    runner.run(case)
