"""Functions of Python as tools that a model may call."""

from __future__ import annotations

import collections.abc
import inspect
import sys
import typing
from typing import Any, Callable, Dict, List, Mapping, Union

#: A function with type hints, or what describes one in the shape of "tools" of
#: OpenAI's chat completions.
Tool = Union[Callable[..., Any], Mapping[str, Any]]

_SIMPLE: Dict[Any, Dict[str, Any]] = {
    Any: {},
    inspect.Parameter.empty: {},
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    None: {"type": "null"},
    type(None): {"type": "null"},
    list: {"type": "array"},
    dict: {"type": "object"},
}
_UNIONS: List[Any] = [Union]
if sys.version_info >= (3, 10):
    import types

    _UNIONS.append(types.UnionType)


def tool_of(function: Callable[..., Any]) -> Dict[str, Any]:
    """What describes a function to a model.

    The schema of its parameters comes from the type hints, those without a
    default are required; the description is the docstring. TypeError: a hint
    that JSON has nothing for.
    """
    hints = typing.get_type_hints(function)
    properties = {}
    required = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD,
                              parameter.POSITIONAL_ONLY):
            raise TypeError(f"{function.__name__}: {parameter} has no name")
        try:
            properties[name] = _schema(hints.get(name, parameter.empty))
        except TypeError as error:
            raise TypeError(f"{function.__name__}: {name}: {error}") from None
        if parameter.default is parameter.empty:
            required.append(name)
    described: Dict[str, Any] = {"name": function.__name__}
    description = inspect.getdoc(function)
    if description:
        described["description"] = description
    described["parameters"] = {
        "type": "object",
        "properties": properties,
        "required": required,
    }
    return {"type": "function", "function": described}


def described(tools: typing.Iterable[Tool]) -> List[Mapping[str, Any]]:
    """All of them in the shape of OpenAI."""
    return [
        each if isinstance(each, collections.abc.Mapping) else tool_of(each)
        for each in tools
    ]


def _schema(hint: Any) -> Dict[str, Any]:
    """The JSON Schema of a type."""
    if hint in _SIMPLE:
        return dict(_SIMPLE[hint])
    make = getattr(hint, "model_json_schema", None)
    if make is not None:
        made: Dict[str, Any] = make()
        return made
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin in _UNIONS:
        return {"anyOf": [_schema(each) for each in arguments]}
    if origin in (list, collections.abc.Sequence):
        return {"type": "array", "items": _schema(arguments[0])}
    if origin in (dict, collections.abc.Mapping) and arguments[0] is str:
        return {
            "type": "object",
            "additionalProperties": _schema(arguments[1]),
        }
    raise TypeError(f"JSON has nothing for {hint}")
