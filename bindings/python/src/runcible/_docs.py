"""Docstrings are the comments of the C headers; see docstrings.py."""

from __future__ import annotations

from typing import Callable, TypeVar

from ._comments import comments

_Documented = TypeVar("_Documented")


def documented(*names: str) -> Callable[[_Documented], _Documented]:
    """Gives what follows the comments of these C declarations."""

    def decorate(thing: _Documented) -> _Documented:
        thing.__doc__ = "\n\n".join(comments[name] for name in names)
        return thing

    return decorate
