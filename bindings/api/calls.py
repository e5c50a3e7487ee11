"""The plain functions of handles and their parameters, by rule.

A plain function takes its handle and then only numbers, paths and other handles,
and returns nothing, one value or a handle of the same kind. A tensor is made on a
backend by functions that also take a description of its numbers. Functions that the
sources of a language call themselves are implemented there by hand; the languages
generate the others.
"""

import re
from dataclasses import dataclass
from typing import List, Optional

from headers import Api, Function, Parameter, Struct

# The parameters that form one input or one output, by their types and names.
_INPUTS = {
    ("int64_t",): "int64",
    ("const char* path",): "path",
    ("rc_dtype",): "dtype",
    ("const int64_t* shape", "int32_t"): "shape",
    ("const void*", "size_t"): "bytes",
}
_OUTPUTS = {
    (): "",
    ("int64_t*",): "int64",
    ("int32_t**", "size_t*"): "tokens",
    ("void**", "size_t*"): "bytes",
    ("const char** json",): "json",  # owned by the handle
    ("char** json",): "owned json",
}
# Makers of tensors with a name other than in C.
_MAKERS = {"create": "zeros", "from_data": "from_bytes"}


@dataclass(frozen=True)
class Input:
    """An argument of a function besides its handle."""

    name: str
    kind: str  # "int64", "path", "handle", "dtype", "shape", "bytes" or "options"
    of: str = ""  # the handle, "rc_model"
    struct: Optional[Struct] = None  # of options


@dataclass(frozen=True)
class Call:
    function: Function
    words: str  # its name, "save_bytes"
    inputs: List[Input]
    gives: str  # of _OUTPUTS, or "handle"

    @property
    def native(self) -> str:
        """Its name in SWIG's module."""
        return self.function.native

    @property
    def options(self) -> Optional[Struct]:
        """The options that it takes."""
        return next((each.struct for each in self.inputs if each.struct), None)

    @property
    def exclusive(self) -> bool:
        """Whether a session must be idle for it: functions that return numbers and
        JSON may be called at any time."""
        return self.native.startswith("session_") and not self.moves and (
            self.gives not in ("int64", "json", "owned json"))

    @property
    def moves(self) -> bool:
        """Whether a session, busy or not, belongs to the given model afterwards."""
        return self.native == "session_move"

    @property
    def changes(self) -> bool:
        """Whether it is called for its effect on the handle."""
        return not self.gives and not self.of_kind("path")

    @property
    def is_long(self) -> bool:
        """Whether it writes files or copies the contents of the handle."""
        return bool(self.of_kind("path") or self.of_kind("handle")
                    or self.gives == "bytes")

    def of_kind(self, kind: str) -> List[Input]:
        return [each for each in self.inputs if each.kind == kind]


def _input(api: Api, rest: List[Parameter]) -> "tuple[Optional[Input], int]":
    """Returns the input that begins with the first parameter, and how many parameters
    it has."""
    name, ctype = rest[0].name, rest[0].ctype
    for types, kind in _INPUTS.items():
        if len(types) <= len(rest) and all(
                known in (each.ctype, f"{each.ctype} {each.name}")
                for known, each in zip(types, rest)):
            return Input(name, kind), len(types)
    base = ctype.replace("const ", "").rstrip("*")
    if base in api.structs and api.structs[base].is_options:
        return Input(name, "options", struct=api.structs[base]), 1
    if ctype == base + "*" and base + "_release" in api.functions:
        return Input(name, "handle", of=base), 1
    return None, 1


def _gives(handle: str, rest: List[Parameter]) -> Optional[str]:
    if [each.ctype for each in rest] == [handle + "**"]:
        return "handle"
    for types, kind in _OUTPUTS.items():
        if len(types) == len(rest) and all(
                known in (each.ctype, f"{each.ctype} {each.name}")
                for known, each in zip(types, rest)):
            return kind
    return None


def _call(api: Api, gives: str, function: Function, words: str) -> Optional[Call]:
    """Returns None for a function that is not plain."""
    rest, inputs = function.parameters[1:], []
    while rest:
        outputs = _gives(gives, rest)
        if outputs is not None:
            return Call(function, words, inputs, outputs)
        taken, count = _input(api, rest)
        if taken is None:
            return None
        inputs.append(taken)
        rest = rest[count:]
    return Call(function, words, inputs, "")


def calls(api: Api, handle: str) -> List[Call]:
    """Returns the plain functions of a handle, "rc_session"."""
    found = [_call(api, handle, each, re.sub("_memory$", "_bytes",
                                             each.name[len(handle) + 1:]))
             for each in api.functions.values()
             if each.result == "rc_status" and each.name.startswith(handle + "_")
             and each.parameters[0].ctype.replace("const ", "") == handle + "*"]
    return [each for each in found if each is not None
            and all(one.kind in ("int64", "path", "handle") for one in each.inputs)]


def makers(api: Api) -> List[Call]:
    """Returns the functions that make a tensor on a backend."""
    found = []
    for each in api.functions.values():
        own = each.name[len("rc_tensor_"):]
        if each.name.startswith("rc_tensor_") and (
                each.parameters[0].ctype == "rc_backend*"):
            found.append(_call(api, "rc_tensor", each, _MAKERS.get(own, own)))
    return [each for each in found if each is not None and each.gives == "handle"]
