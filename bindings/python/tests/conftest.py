"""What tests of several files use."""

import pytest

import runcible


@pytest.fixture(scope="module")
def model():
    return runcible.Model("builtin:fable", "cpu")
