"""Fixtures for several files."""

import pytest

import runcible


@pytest.fixture(scope="module")
def model():
    return runcible.Model("builtin:fable", "cpu")
