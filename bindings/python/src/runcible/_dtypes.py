"""Types of elements, by their names in lower case: "f32", "q4_k"."""

from __future__ import annotations

from ._handle import chosen
from ._members import CHOICES

_names = {number: name for name, number in CHOICES["dtype"].items()}


def dtype_number(name: str) -> int:
    return chosen("dtype", name)


def dtype_name(number: int) -> str:
    return _names.get(number, str(number))
