"""The public C headers as one description: structs, enumerations, functions.

The generated parts of the bindings come from here; the comments are those of
comments.py. Only the headers that runcible.h includes are read: plugin.h is for
backends. evaluate.h is left out, as in swig/runcible.i: models are evaluated in C and
by the command.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List, Optional

from comments import read_comments


# Headers that the packages do not use, or wrap by hand.
_LEFT_OUT = {"evaluate.h", "op_backend.h", "plugin_ops.h"}

# Types of C, by their names in the languages.
INTEGERS = {"int32_t": "int32", "uint32_t": "uint32", "int64_t": "int64",
            "uint64_t": "uint64", "size_t": "uint64"}


@dataclass(frozen=True)
class Field:
    """A member of a struct."""

    name: str
    ctype: str  # without the name and the array: "const char*"
    doc: str
    array: int = 0  # the number of elements; 0: not an array
    default: str = ""  # of the RC_..._INIT macro, or of its comment if that unsets it


class _Named:
    """An object with a name of C."""

    name: str

    @property
    def native(self) -> str:
        """Its name in SWIG's module: model_options for rc_model_options."""
        return self.name[len("rc_"):]


@dataclass(frozen=True)
class Struct(_Named):
    name: str  # "rc_model_options"
    doc: str
    fields: List[Field]

    @property
    def is_options(self) -> bool:
        return self.name.endswith("_options")

    @property
    def is_report(self) -> bool:
        return self.name.endswith("_report")

    def field(self, name: str) -> Optional[Field]:
        return next((each for each in self.fields if each.name == name), None)


@dataclass(frozen=True)
class Constant(_Named):
    """A member of an enumeration."""

    name: str  # "RC_DTYPE_F32"
    value: int
    doc: str


@dataclass(frozen=True)
class Enum:
    name: str  # the type of its values, "rc_dtype"; "" if none
    doc: str
    constants: List[Constant]

    @property
    def prefix(self) -> str:
        """The common beginning of all names, "RC_DTYPE_"."""
        names = [each.name.split("_") for each in self.constants]
        shared = 0
        while all(len(each) > shared + 1 and each[shared] == names[0][shared]
                  for each in names):
            shared += 1
        return "_".join(names[0][:shared]) + "_"

    def rest(self, constant: Constant) -> str:
        """Returns the name of a constant without the common beginning."""
        return constant.name[len(self.prefix):]


@dataclass(frozen=True)
class Parameter:
    name: str
    ctype: str


@dataclass(frozen=True)
class Function(_Named):
    name: str
    result: str
    parameters: List[Parameter]
    doc: str


@dataclass
class Api:
    structs: Dict[str, Struct] = field(default_factory=dict)
    enums: List[Enum] = field(default_factory=list)
    functions: Dict[str, Function] = field(default_factory=dict)
    comments: Dict[str, str] = field(default_factory=dict)
    numbers: Dict[str, str] = field(default_factory=dict)  # macros that are numbers

    def enum(self, name: str) -> Optional[Enum]:
        """Returns an enumeration by the type of its values."""
        return next((each for each in self.enums if name and each.name == name),
                    None)

    def enum_of_prefix(self, prefix: str) -> Optional[Enum]:
        return next((each for each in self.enums if each.prefix == prefix), None)

    @property
    def statuses(self) -> List[Constant]:
        """The statuses that are errors."""
        return [each for enum in self.enums for each in enum.constants
                if each.name.startswith("RC_E_")]


def _split(text: str) -> List[str]:
    """Splits a text at the commas outside of braces and parentheses."""
    parts, depth = [""], 0
    for character in text:
        depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [" ".join(part.split()) for part in parts if part.strip()]


# The default of a member that the RC_..._INIT macro unsets, in its comment.
_DEFAULT = re.compile(r"\bDefault:\s+(-?\d[\d.]*?|RC_\w+)\.?(?=\s|$)")


def _declared(text: str):
    """Returns the type, the name and the array size of "const char* name[4]"."""
    found = re.fullmatch(r"(.*?[\s*])(\w+)(?:\[(\w+)\])?", " ".join(text.split()))
    if found is None:
        return None
    ctype = re.sub(r"\s*\*\s*", "*", found.group(1)).strip()
    return ctype, found.group(2), int(found.group(3) or 0)


class _Reader:
    """Reads one header into an Api."""

    def __init__(self, api: Api, text: str) -> None:
        self.api = api
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        joined = text.replace("\\\n", " ")
        self.macros = dict(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\s+(.*)$",
                                      joined, re.MULTILINE))
        self.code = re.sub(r"^[ \t]*#.*$", "", joined, flags=re.MULTILINE)

    def read(self) -> None:
        self.api.numbers.update((name, text.strip()) for name, text in
                                self.macros.items() if text.strip().isdigit())
        for found in re.finditer(r"typedef struct (\w+)\s*\{(.*?)\}\s*\1;",
                                 self.code, re.DOTALL):
            # A function in options is only an address; the other struct with functions
            # is wrapped by hand: swig/model_memory.i.
            body = found.group(2)
            if found.group(1).endswith("_options"):
                body = re.sub(r"\w+\s*\(\*(\w+)\)\([^)]*\)", r"void* \1", body)
            if "(*" not in body:
                self._struct(found.group(1), body)
        for found in re.finditer(
                r"(?:typedef\s+\w+\s+(\w+);\s*)?\benum\s*\{(.*?)\};",
                self.code, re.DOTALL):
            self._enum(found.group(1) or "", found.group(2))
        for found in re.finditer(r"\bRC_API\s+([\w\s*]*?[\s*])(\w+)\((.*?)\);",
                                 self.code, re.DOTALL):
            self._function(*found.groups())

    def _doc(self, name: str) -> str:
        return self.api.comments.get(name, "")

    def _struct(self, name: str, body: str) -> None:
        initial = self.macros.get(f"{name.upper()}_INIT", "").strip()
        values = dict(re.findall(r"RC_INITIAL\((\w+), (.*)\)$", text)[0]
                      for text in _split(initial[1:-1]))
        fields = []
        for text in filter(str.strip, body.split(";")):
            ctype, member, array = _declared(text)
            doc, default = self._doc(f"{name}.{member}"), values.get(member, "")
            if default.startswith("RC_UNSET_"):
                given = _DEFAULT.search(doc)
                default = given.group(1) if given else ""
            fields.append(Field(member, ctype, doc, array, default))
        self.api.structs[name] = Struct(name, self._doc(name), fields)

    def _enum(self, name: str, body: str) -> None:
        constants, value = [], -1
        for text in _split(body):
            constant, _, given = (part.strip() for part in text.partition("="))
            value = int(given, 0) if given else value + 1
            constants.append(Constant(constant, value, self._doc(constant)))
        doc = self._doc(f"enum {constants[0].name}")
        self.api.enums.append(Enum(name, doc, constants))

    def _function(self, result: str, name: str, body: str) -> None:
        declared = [_declared(text) for text in _split(body) if text != "void"]
        parameters = [Parameter(each[1], each[0]) for each in declared if each]
        result = re.sub(r"\s*\*\s*", "*", result).strip()
        self.api.functions[name] = Function(name, result, parameters,
                                            self._doc(name))


def read_api(folder) -> Api:
    """Returns the description of the headers in a folder, include/runcible."""
    folder = Path(folder)
    api = Api(comments=read_comments(folder))
    # Options are shown without the comment that stands above them in the header.
    api.comments.update(
        (name, text.replace("see above", "see rc_custom_op"))
        for name, text in api.comments.items() if name.startswith("rc_custom_op_options"))
    whole = (folder / "runcible.h").read_text(encoding="utf-8")
    for name in _in_order(folder, re.findall(r'#include "runcible/(\w+\.h)"', whole)):
        if name in _LEFT_OUT:
            continue
        _Reader(api, (folder / name).read_text(encoding="utf-8")).read()
    return api


def _in_order(folder: Path, names: List[str]) -> List[str]:
    """Orders headers, each after those that it needs."""
    order: List[str] = []

    def add(name: str) -> None:
        if name in order:
            return
        # Headers that are included at the end need this one.
        text = (folder / name).read_text(encoding="utf-8").split('extern "C"')[0]
        for other in re.findall(r'#include "runcible/(\w+\.h)"', text):
            add(other)
        order.append(name)

    for name in names:
        add(name)
    return order
