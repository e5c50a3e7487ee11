"""JSON of values that programs have as objects: schemas, tools, messages, choices."""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
import json
import sys
import typing
from typing import Any, Dict, List, Mapping, Optional, Protocol, Union


class SchemaMaker(Protocol):
    """Has a schema, like pydantic's TypeAdapter."""

    def json_schema(self) -> Dict[str, Any]: ...


#: A JSON Schema: an object, JSON text, a pydantic class or another class with
#: ``model_json_schema``, a ``TypeAdapter`` or another object with
#: ``json_schema``, or a dataclass.
Schema = Union[Mapping[str, Any], bool, str, type, SchemaMaker]
#: An option that is JSON: an object or JSON text. Schemas within it, and the whole
#: of `response_format`, may be any Schema.
JsonOption = Union[str, Mapping[str, Any], type, SchemaMaker]

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


def json_text(value: object, name: str) -> str:
    """Returns the JSON of an argument of this name; a str is JSON already.

    TypeError, ValueError: JSON cannot represent a part of it.
    """
    return value if isinstance(value, str) else _dumped(value, name)


def option_text(value: object, name: str) -> str:
    """The same for an option; a schema alone is the format of an answer."""
    schema = None if isinstance(value, str) else schema_of(value)
    if schema is not None and name == "response_format":
        wanted = {"name": _name_of(value), "schema": schema}
        value = {"type": "json_schema", "json_schema": wanted}
    return json_text(value, name)


def messages_text(messages: object) -> str:
    return _dumped(messages, "messages")


def result_text(result: object, name: str) -> str:
    """Returns the result of a function as the text of a message."""
    return result if isinstance(result, str) else _dumped(result, name)


def schema_of(value: object) -> Optional[Dict[str, Any]]:
    """Returns the schema that an object or a class has; None: it has none.

    Schemas of classes describe their input, not their output.
    """
    if isinstance(value, type) or not hasattr(value, "model_dump"):
        make = getattr(value, "model_json_schema", None)
    else:
        make = None  # an instance is a value, not a schema
    if make is None and not isinstance(value, type):
        make = getattr(value, "json_schema", None)
    if callable(make):
        made: Dict[str, Any] = make()
        return made
    if isinstance(value, type) and dataclasses.is_dataclass(value):
        definitions: Dict[str, Any] = {}
        return with_definitions(hint_schema(value, definitions), definitions)
    return None


def with_definitions(
    schema: Dict[str, Any], definitions: Dict[str, Any]
) -> Dict[str, Any]:
    """Adds the definitions that references within a schema name."""
    return {**schema, "$defs": definitions} if definitions else schema


def hint_schema(hint: Any, definitions: Dict[str, Any]) -> Dict[str, Any]:
    """Returns the JSON Schema of a type; adds what it refers to to `definitions`.

    TypeError: JSON cannot represent it.
    """
    if isinstance(hint, collections.abc.Hashable) and hint in _SIMPLE:
        return dict(_SIMPLE[hint])
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _of_dataclass(hint, definitions)
    make = getattr(hint, "model_json_schema", None)
    if make is not None:
        made: Dict[str, Any] = make()
        # Pydantic's references start at the root of the schema.
        for name, definition in made.pop("$defs", {}).items():
            if definitions.setdefault(name, definition) != definition:
                raise TypeError(f"two types have the name {name}")
        return made
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin in _UNIONS:
        return {"anyOf": [hint_schema(each, definitions) for each in arguments]}
    if origin in (list, collections.abc.Sequence):
        return {"type": "array", "items": hint_schema(arguments[0], definitions)}
    if origin in (dict, collections.abc.Mapping) and arguments[0] is str:
        return {
            "type": "object",
            "additionalProperties": hint_schema(arguments[1], definitions),
        }
    raise TypeError(f"JSON has nothing for {hint}")


def _of_dataclass(kind: Any, definitions: Dict[str, Any]) -> Dict[str, Any]:
    """Returns a reference, because a field may have the type of the class itself."""
    name = kind.__name__
    reference = {"$ref": f"#/$defs/{name}"}
    if name in definitions:
        return reference
    properties: Dict[str, Any] = {}
    schema = {"type": "object", "properties": properties, "required": [],
              "additionalProperties": False}
    definitions[name] = schema
    hints = typing.get_type_hints(kind)
    required = []
    for field in dataclasses.fields(kind):
        if not field.init:
            continue
        try:
            properties[field.name] = hint_schema(hints[field.name], definitions)
        except TypeError as error:
            raise TypeError(f"{name}.{field.name}: {error}") from None
        if (
            field.default is dataclasses.MISSING
            and field.default_factory is dataclasses.MISSING
        ):
            required.append(field.name)
    schema["required"] = required
    return reference


def _name_of(value: object) -> str:
    """Returns the required name of a format of answers: for a class its own."""
    name = getattr(value, "__name__", "answer")
    return "".join(each if each.isalnum() else "_" for each in name)


def _plain(value: object) -> object:
    """Converts an object within another to a form that JSON has."""
    schema = schema_of(value)
    if schema is not None:
        return schema
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return dump(mode="json", exclude_none=True)
    if isinstance(value, collections.abc.Mapping):
        return dict(value)
    if isinstance(value, collections.abc.Sequence) and not isinstance(
        value, (bytes, bytearray, memoryview)
    ):
        return list(value)
    raise TypeError(f"JSON has nothing for {value!r} ({type(value).__name__})")


def _dumped(value: object, name: str) -> str:
    try:
        return json.dumps(value, default=_plain, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from None
    except RecursionError:
        raise ValueError(f"{name}: nested too deeply for JSON") from None
