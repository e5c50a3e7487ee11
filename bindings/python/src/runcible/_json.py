"""JSON of what programs have as objects: schemas, tools, messages, choices."""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
import json
import sys
import typing
from typing import Any, Dict, List, Mapping, Optional, Protocol, Union


class SchemaMaker(Protocol):
    """Has a schema, as pydantic's TypeAdapter does."""

    def json_schema(self) -> Dict[str, Any]: ...


#: A JSON Schema: as an object, as JSON, or a class of pydantic or another that
#: has ``model_json_schema``, a ``TypeAdapter`` or another object that has
#: ``json_schema``, or a dataclass.
Schema = Union[Mapping[str, Any], bool, str, type, SchemaMaker]
#: An option that is JSON: an object or the JSON itself. Schemas within it, and
#: the whole of `response_format`, may be whatever Schema is.
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
    """The JSON of an argument of this name; a str is JSON already.

    TypeError, ValueError: JSON has nothing for a part of it.
    """
    return value if isinstance(value, str) else _dumped(value, name)


def option_text(value: object, name: str) -> str:
    """The same of an option; a schema alone is the format of an answer."""
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
    """The schema that an object or a class has; None: it has none.

    Those of classes are of what they take, not of what they give out.
    """
    if isinstance(value, type) or not hasattr(value, "model_dump"):
        make = getattr(value, "model_json_schema", None)
    else:
        make = None  # an instance is a value, and no schema
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
    """A schema with what the references within it name."""
    return {**schema, "$defs": definitions} if definitions else schema


def hint_schema(hint: Any, definitions: Dict[str, Any]) -> Dict[str, Any]:
    """The JSON Schema of a type; what it refers to is added to `definitions`.

    TypeError: JSON has nothing for it.
    """
    if isinstance(hint, collections.abc.Hashable) and hint in _SIMPLE:
        return dict(_SIMPLE[hint])
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _of_dataclass(hint, definitions)
    make = getattr(hint, "model_json_schema", None)
    if make is not None:
        made: Dict[str, Any] = make()
        # References of pydantic begin at the root of the schema.
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
    """A reference, as a field may be of the class itself."""
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
    """The name that a format of answers has to have: of a class its own."""
    name = getattr(value, "__name__", "answer")
    return "".join(each if each.isalnum() else "_" for each in name)


def _plain(value: object) -> object:
    """Returns an object within another in a form that JSON has."""
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
