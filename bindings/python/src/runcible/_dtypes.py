"""Types of elements, by their names in lower case: "f32", "q4_k"."""

from __future__ import annotations

from typing import Dict

from . import native as _native

_PREFIX = "DTYPE_"

_numbers: Dict[str, int] = {
    name[len(_PREFIX):].lower(): number
    for name, number in vars(_native).items()
    if name.startswith(_PREFIX)
}
_names = {number: name for name, number in _numbers.items()}


def dtype_number(name: str) -> int:
    if not isinstance(name, str):
        raise TypeError(f"a dtype must be a str, not {type(name).__name__}")
    if name.lower() not in _numbers:
        raise ValueError(
            f"there is no dtype {name!r}; there are {', '.join(_numbers)}"
        )
    return _numbers[name.lower()]


def dtype_name(number: int) -> str:
    return _names.get(number, str(number))
