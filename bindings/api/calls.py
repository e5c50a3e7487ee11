"""The plain functions of handles: what they take and give, by rule.

A plain function takes its handle and then only numbers, paths and other handles,
and gives nothing, one value or a handle of the same kind. A tensor is made on a
backend by functions that take besides what its numbers are. What the sources of a
language call themselves is by hand there; languages make the others.
"""

import re
from dataclasses import dataclass
from typing import List, Optional

from headers import Api, Function, Parameter, Struct

# The parameters that are one input or one output, by their types and names.
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
    ("const char** json",): "json",  # that stays the handle's
    ("char** json",): "owned json",
}
# Makers of tensors that have another name than in C.
_MAKERS = {"create": "zeros", "from_data": "from_bytes"}


@dataclass(frozen=True)
class Input:
    """What a function takes besides its handle."""

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
        """Its name in what SWIG makes."""
        return self.function.native

    @property
    def options(self) -> Optional[Struct]:
        """The options that it takes."""
        return next((each.struct for each in self.inputs if each.struct), None)

    @property
    def exclusive(self) -> bool:
        """Whether nothing else of a session may go on: numbers and accounts are told
        always."""
        return self.native.startswith("session_") and (
            self.gives not in ("int64", "json", "owned json"))

    @property
    def changes(self) -> bool:
        """Whether it is for what it does to its handle."""
        return not self.gives and not self.of_kind("path")

    @property
    def is_long(self) -> bool:
        """Whether it writes files or copies what the handle holds."""
        return bool(self.of_kind("path") or self.of_kind("handle")
                    or self.gives == "bytes")

    def of_kind(self, kind: str) -> List[Input]:
        return [each for each in self.inputs if each.kind == kind]


def _input(api: Api, rest: List[Parameter]) -> "tuple[Optional[Input], int]":
    """The input that begins with the first parameter, and of how many it is."""
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
    """None for what is not plain."""
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
    """The plain functions of a handle, "rc_session"."""
    found = [_call(api, handle, each, re.sub("_memory$", "_bytes",
                                             each.name[len(handle) + 1:]))
             for each in api.functions.values()
             if each.result == "rc_status" and each.name.startswith(handle + "_")
             and each.parameters[0].ctype.replace("const ", "") == handle + "*"]
    return [each for each in found if each is not None
            and all(one.kind in ("int64", "path", "handle") for one in each.inputs)]


def makers(api: Api) -> List[Call]:
    """The functions that make a tensor on a backend."""
    found = []
    for each in api.functions.values():
        own = each.name[len("rc_tensor_"):]
        if each.name.startswith("rc_tensor_") and (
                each.parameters[0].ctype == "rc_backend*"):
            found.append(_call(api, "rc_tensor", each, _MAKERS.get(own, own)))
    return [each for each in found if each is not None and each.gives == "handle"]
