"""Python functions as tools that a model may call."""

from __future__ import annotations

import collections.abc
import inspect
import typing
from typing import Any, Callable, Dict, List, Mapping, Union

from ._json import hint_schema, with_definitions

#: A function with type hints, a pydantic class, or the description of a function
#: in the shape of "tools" of OpenAI's chat completions.
Tool = Union[Callable[..., Any], Mapping[str, Any]]

def tool_of(function: Callable[..., Any]) -> Dict[str, Any]:
    """Returns the description of a function for a model.

    The schema of its parameters comes from the type hints; parameters without a
    default are required; the description is the docstring. TypeError: JSON cannot
    represent a hint. A class with ``model_json_schema`` is called with the
    arguments that its fields are.
    """
    make = getattr(function, "model_json_schema", None)
    if make is not None:
        return _tool(function, make())
    hints = typing.get_type_hints(function)
    properties = {}
    required = []
    definitions: Dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD,
                              parameter.POSITIONAL_ONLY):
            raise TypeError(f"{function.__name__}: {parameter} has no name")
        try:
            properties[name] = hint_schema(
                hints.get(name, parameter.empty), definitions
            )
        except TypeError as error:
            raise TypeError(f"{function.__name__}: {name}: {error}") from None
        if parameter.default is parameter.empty:
            required.append(name)
    schema = {
        "type": "object",
        "properties": properties,
        "required": required,
    }
    return _tool(function, with_definitions(schema, definitions))


def _tool(
    function: Callable[..., Any], parameters: Dict[str, Any]
) -> Dict[str, Any]:
    described: Dict[str, Any] = {"name": function.__name__}
    description = inspect.getdoc(function)
    if description:
        described["description"] = description
    described["parameters"] = parameters
    return {"type": "function", "function": described}


def described(tools: typing.Iterable[Tool]) -> List[Mapping[str, Any]]:
    """Returns all tools in the shape of OpenAI's."""
    return [
        each if isinstance(each, collections.abc.Mapping) else tool_of(each)
        for each in tools
    ]
