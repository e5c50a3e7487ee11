"""The base of all objects that represent a handle of the library."""

from __future__ import annotations

import math
import os
from types import TracebackType
from typing import Any, Optional, Type, TypeVar, Union

from ._json import option_text
from ._members import CHOICES, JSONS, PAIRS, TIMES
from .errors import ClosedError, Error

_Self = TypeVar("_Self", bound="Closable")

#: A path, or "builtin:NAME" for a model that comes with Runcible.
Path = Union[str, "os.PathLike[str]"]


class Closable:
    """Owns a handle of the library until it is closed or collected.

    Handles may be closed and collected in any order: an object that needs another
    handle keeps it. Calls in other threads that use the handle run to their end.
    """

    __slots__ = ()

    _proxy: Any

    @property
    def _handle(self) -> Any:
        proxy = getattr(self, "_proxy", None)
        if proxy is None:
            raise ClosedError(f"this {type(self).__name__} is closed")
        return proxy

    def close(self) -> None:
        """Releases the handle; using it then raises ClosedError."""
        self._proxy = None

    @property
    def closed(self) -> bool:
        return getattr(self, "_proxy", None) is None

    def _said(self) -> str:
        """Returns the part of the representation after the name of the class."""
        return ""

    def __repr__(self) -> str:
        """Never raises: values that are not available are omitted."""
        name = type(self).__name__
        try:
            said = "" if self.closed else self._said()
        except (Error, AttributeError):
            said = ""
        # Another thread may have closed it meanwhile.
        return f"<{name}, closed>" if self.closed else f"<{name} {said}".rstrip() + ">"

    def __enter__(self: _Self) -> _Self:
        self._handle
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} belongs to its process")


class Handle(Closable):
    """Keeps its handle like any other object."""

    __slots__ = ("_proxy", "__weakref__")


class ModelHandle(Handle):
    """The base of Model, for sessions: Model imports them, so they cannot import it."""

    __slots__ = ()


class TokenizerHandle(Handle):
    """The base of Tokenizer, for grammars: Tokenizer imports them indirectly."""

    __slots__ = ()


def need(value: object, kind: Type[Closable], name: str) -> Any:
    """Returns the handle of an argument of one of the package's classes."""
    if not isinstance(value, kind):
        raise TypeError(
            f"{name} must be a {kind.__name__.replace('Handle', '')}, "
            f"not {type(value).__name__}"
        )
    return value._handle


def chosen(name: str, value: object) -> int:
    """Returns the number of a choice that is given by its name."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    choices = CHOICES[name]
    if value.lower() not in choices:
        raise ValueError(
            f"{name} must be one of {', '.join(choices)}, not {value!r}"
        )
    return choices[value.lower()]


def set_options(options: Any, **values: Any) -> Any:
    """Sets members of an options object; None leaves the default."""
    for name, value in values.items():
        if value is None:
            continue
        if name in JSONS:
            value = option_text(value, name)
        try:
            if name in PAIRS:
                getattr(options, f"set_{name}")(*value)
            elif name in TIMES:
                setattr(options, TIMES[name], milliseconds(value, name))
            else:
                number = chosen(name, value) if name in CHOICES else value
                setattr(options, name, number)
        except TypeError:
            raise TypeError(
                f"{name} cannot be {value!r} ({type(value).__name__})"
            ) from None
        except OverflowError:
            raise OverflowError(f"{name} cannot be {value!r}") from None
    return options


def milliseconds(seconds: object, name: str) -> int:
    """Converts seconds, rounding up so that no limit ends early, except for binary
    rounding errors; at least 1, because 0 means no limit to the library."""
    if not isinstance(seconds, (int, float)):
        raise TypeError(
            f"{name} must be seconds, not {type(seconds).__name__}"
        )
    if not 0 <= seconds <= 1e12:
        raise ValueError(f"{name} must be from 0 to 1e12 seconds, not {seconds}")
    return max(1, math.ceil(seconds * 1000 - 1e-6))
