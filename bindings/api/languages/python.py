"""Python: keywords of options, dataclasses of reports, exceptions, ops."""

import re
import sys

from calls import Call, Input
from headers import Constant, Struct
from language import Language, block, sentence
from members import (Member, choices, jsons, kinds, members, pairs, pascal, report_of,
                     reports, times, report_words, words_of)
from tensors import Argument, arguments, op_words, ops

# The built-in exceptions with the same meaning; RuntimeError for others.
_BASES = {
    "RC_E_INVALID_ARGUMENT": "ValueError",
    "RC_E_OUT_OF_MEMORY": "MemoryError",
    "RC_E_NOT_FOUND": "FileNotFoundError, LookupError",
    "RC_E_IO": "OSError",
    "RC_E_FORMAT": "ValueError",
    "RC_E_DEVICE_MEMORY": "MemoryError",
    "RC_E_TIMEOUT": "TimeoutError",
    "RC_E_DEADLINE": "TimeoutError",
    "RC_E_CLOSED": "ValueError",
}
_DERIVED = {"RC_E_DEVICE_LOST": "DeviceError"}
# Options that the package takes in another form than C, and their descriptions.
_IN_OTHER_FORM = {
    "rc_generate_options": {
        "logit_bias": "Numbers that are added to the logits of tokens, by token; -inf "
                      "forbids one.",
        "stop": "A text, or several, none of them empty, that end the generated text "
                "and are not part of it.",
        "stop_tokens": "Tokens that end the generated text.",
        "add_special": "Whether a text at the start of a session gets the special "
                       "tokens that the model requires there, such as BOS. Default: "
                       "True.",
        "parse_special": "Whether names of special tokens in the text of the prompt "
                         "become these tokens. Default: False.",
    },
    "rc_embed_options": {
        "normalize": "Whether each row is divided by its Euclidean length; a row of "
                     "zeros does not change. None: as the folder of the model states, "
                     "or True if it does not.",
    },
}
# Members that are objects of the package.
_OBJECTS = {"rc_generate_options": ["grammar"], "rc_backend_options": ["tenant"]}
_TYPES = {"float": "float", "flag": "bool", "text": "str", "json": "JsonOption",
          "pair": "Pair", "enum": "str"}
# Types of the results of plain functions.
_GIVEN = {"int64": "int", "tokens": "List[int]", "bytes": "bytes",
          "json": "Dict[str, Any]", "owned json": "Dict[str, Any]"}


class Made(Language):
    suffix = ".py"
    mark = re.compile(r"^(?P<indent>[ \t]*)# :header: (?P<names>[\w. ]+)\n",
                      re.MULTILINE)
    nothing = "None"
    yes, no = "True", "False"
    units = ("milliseconds",)  # other times are numbers with their unit in the name
    # Other names would be those of built-in exceptions with another meaning.
    error_words = {"RC_E_IO": "File", "RC_E_TIMEOUT": "WaitTimeout"}
    options_are_keywords = True
    lists_members = True

    def comment(self, found, text):
        for name in found["names"].split():
            struct = self.api.structs.get(name)
            if struct is not None:
                text += "\n\n" + self._listed(struct)
        return self._docstring(text, found["indent"])

    def _listed(self, struct: Struct) -> str:
        """Returns the documentation of a struct and of its members one by one."""
        lines = [self.said(struct.doc)]
        for each in members(self.api, struct):
            doc = self.said_of(each)
            if doc:
                name = each.without_unit if self.converts(each) else each.name
                lines.append(f"{name}: {doc}")
        return "\n\n".join(filter(None, lines))

    def _described(self, name: str) -> str:
        """Returns the options of a struct one by one, for a hand-written docstring."""
        struct = self.struct(name)
        lines = [f"{member}: {text}"
                 for member, text in _IN_OTHER_FORM.get(name, {}).items()]
        for member in _OBJECTS.get(name, []):
            text = sentence(self.said_flat(self.api.comments[f"{name}.{member}"]))
            lines.append(f"{member}: {text}")
        for each in members(self.api, struct):
            if each.name in _IN_OTHER_FORM.get(name, {}):
                continue
            shown = each.without_unit if self.converts(each) else each.name
            doc = self.said_of(each)
            if not doc:
                sys.exit(f"the headers have no comment of {name}.{each.name}")
            if each.enum is not None:
                values = [self.value_name(each.enum, one) for one in each.enum.constants]
                if not any(value in doc for value in values):
                    doc += f" One of {', '.join(values)}."
            lines.append(f"{shown}: {doc}")
        return self._within("\n\n".join(lines))

    def _within(self, text: str) -> str:
        """Formats a text as a part of a hand-written docstring."""
        text = self.filled(text, "")
        return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')

    def _docstring(self, text: str, indent: str) -> str:
        text = text.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        if "\n" not in text and len(indent + text) < 72 and not text.endswith('"'):
            return f'{indent}"""{text}"""\n'
        return f'{self.filled(chr(34) * 3 + text, "", indent)}{indent}"""\n'

    def files(self):
        return {"runcible/_members.py": self._members()}

    def parts(self):
        return {
            **super().parts(),
            "errors": lambda _: "\n\n".join(
                self._error(each) for each in self.api.statuses),
            "dataclasses": lambda _: "\n\n".join(
                self._report(each) for each in reports(self.api)),
            "report_names": lambda _: block(
                f"{pascal(words_of(each.name))}," for each in reports(self.api)),
            "report_strings": lambda _: block(
                f'"{pascal(words_of(each.name))}",' for each in reports(self.api)),
            "typed": lambda name: "".join(
                f"{self.lines(self.said_of(each), '#: ')}{self._optional(each)}\n"
                for each in members(self.api, self.struct(name))),
            "described": self._described,
            "said": lambda name: self._within(self.said(self.comment_of(name))),
            "keywords": lambda name: block(self._keywords(self.struct(name))),
            "values": lambda name: block(
                f"{each.without_unit}={each.without_unit},"
                for each in members(self.api, self.struct(name))),
        }

    # ---- Tables of members that the package needs at run time

    def _members(self) -> str:
        of_ops = {name: enum for each in ops(self.api)
                  for name, enum in ((one.name, one.enum)
                                     for one in arguments(self.api, each)) if enum}
        named = [f'    "{name}": constants("{enum.prefix[3:]}"),'
                 for name, enum in {**choices(self.api), **of_ops}.items()]
        texts = [f'    {each.value}: "{text}",'
                 for each, text in kinds(self.api).items()]
        return block([
            '"""Members that differ from the numbers and texts of C."""', "",
            "from __future__ import annotations", "", "from typing import Dict", "",
            "from . import native as _native", "", "",
            "def constants(prefix: str) -> Dict[str, int]:",
            '    """Returns constants with a prefix, by the rest in lower case."""',
            "    return {", "        name[len(prefix):].lower(): number",
            "        for name, number in vars(_native).items()",
            "        if name.startswith(prefix)", "    }", "", "",
            "#: Options that are times: their members in C.", "TIMES = {",
            *(f'    "{name}": "{member}",' for name, member in times(self.api).items()),
            "}", "", "#: Options that are two numbers, vertical and horizontal.",
            "PAIRS = {",
            *(f'    "{name}",' for name in pairs(self.api)), "}", "",
            "#: Options that are JSON.", "JSONS = {",
            *(f'    "{name}",' for name in jsons(self.api)), "}", "",
            "#: Options and arguments that are given by name: their numbers.",
            "CHOICES = {",
            *named, "}", "", "#: Kinds of devices, by their numbers.", "KINDS = {",
            *texts, "}"])

    # ---- Errors

    def _error(self, status: Constant) -> str:
        base = _DERIVED.get(status.name) or (
            f"Error, {_BASES.get(status.name, 'RuntimeError')}")
        return (f"class {self.error_name(status)}({base}):\n"
                f"{self._docstring(self.said(status.doc), '    ')}\n"
                f"    status = {status.value}\n")

    # ---- Options

    def _type(self, member: Member) -> str:
        if member.of is not None:
            return f"List[{pascal(words_of(member.of.name))}]"
        if member.unit and self.converts(member):
            return "float"
        return _TYPES.get(member.kind, "int")

    def _optional(self, member: Member) -> str:
        return f"{member.without_unit}: Optional[{self._type(member)}]"

    def _keywords(self, struct: Struct):
        return [f"{self._optional(each)} = None," for each in
                members(self.api, struct)]

    # ---- Reports

    def _report(self, struct: Struct) -> str:
        fields = block(f"    {each.name}: {self._type(each)}"
                       for each in members(self.api, struct))
        return (f"@dataclass(frozen=True)\nclass {pascal(words_of(struct.name))}:\n"
                f"{self._docstring(self._listed(struct), '    ')}\n{fields}")

    def report_member(self, handle: str, function) -> str:
        struct = report_of(self.api, function)
        kind = pascal(words_of(struct.name))
        return block([
            "@property",
            f"def {report_words(handle, function)}(self) -> reports.{kind}:",
            self._docstring(self.said(struct.doc), "    ")
            + f"    report = _native.{struct.native}()", "    proxy = self._handle",
            f"    _native.{function.native}(proxy, report)",
            f"    return reports.copied(reports.{kind}, report)"])

    # ---- Plain functions

    def plain(self, handle: str, call: Call) -> str:
        own = "self._idle" if call.exclusive else "self._handle"
        given = [own, *(_passed(each) for each in call.inputs)]
        called = f"_native.{call.native}({', '.join(given)})"
        kind, body = "None", [f"    {called}"]
        if call.gives == "handle":
            kind = pascal(words_of(handle))
            # A session has its model.
            model = next((each.name for each in call.of_kind("handle")), "self._model")
            body = [self.call("    return self._of", [model, called], "")]
        elif call.moves:
            body.append(f"    self._model = {call.inputs[0].name}")
        elif call.gives:
            kind = _GIVEN[call.gives]
            value = f"json.loads({called})" if "json" in call.gives else called
            body = [f"    made: {kind} = {value}", "    return made"]
        taken = ["self", *(_taken(each) for each in call.inputs)]
        return block([
            *["@property"] * (call.gives in ("int64", "tokens") and not call.inputs),
            f"def {call.words}({', '.join(taken)}) -> {kind}:",
            self._docstring(self.said(call.function.doc), "    ").rstrip("\n"), *body])

    def maker(self, call: Call) -> str:
        lines = ["    cls,", "    shape: Sequence[int],", "    backend: Backend,",
                 "    *,"]
        body, doc = [], self.said(call.function.doc)
        if call.options is not None:
            doc += "\n\n" + self._listed(call.options)
            lines += ["    " + line for line in self._keywords(call.options)]
            body = self._set_options(call.options)
        else:
            lines.append('    dtype: str = "f32",')
        given = ['need(backend, Backend, "backend")',
                 *(_passed(each) for each in call.inputs)]
        return block([
            "@classmethod", f"def {call.words}(", *lines, ") -> Tensor:",
            self._docstring(doc, "    ").rstrip("\n"), *body,
            self.call(f"    made = _native.{call.native}", given, ""),
            "    return cls._of(made, backend)"])

    def _set_options(self, struct: Struct):
        return ["    options = set_options(", f"        _native.{struct.native}(),",
                *(f"        {member.without_unit}={member.without_unit},"
                  for member in members(self.api, struct)), "    )"]

    # ---- Ops

    def op(self, function) -> str:
        taken = arguments(self.api, function)
        name, native = op_words(function), f"_native.{function.native}"
        lines = []
        for each in taken:
            if each.struct is not None:
                lines += ["    *,", *("    " + line for line in
                                      self._keywords(each.struct))]
            elif each.kind == "flag":
                lines += ["    *,", f"    {each.name}: bool = False,"]
            else:
                lines.append(f"    {self._parameter(each)},")
        head = [f"def {name}(", "    self,", *lines, ") -> Tensor:"]
        said = self.said_of_op(function)
        said += "".join("\n\n" + self._listed(each.struct)
                        for each in taken if each.struct is not None)
        body = []
        for each in taken:
            if each.struct is not None:
                body += self._set_options(each.struct)
        given = ["self._handle", *(self._given(each) for each in taken)]
        return block([*head, self._docstring(said, "    ").rstrip("\n"), *body,
                      self.call(f"    return self._made({native}", given, ")")])

    def _parameter(self, argument: Argument) -> str:
        if argument.kind == "tensor":
            return f"{argument.name}: " + (
                "Optional[Tensor] = None" if argument.optional else "Tensor")
        if argument.kind == "enum":
            default = ' = "none"' if argument.default else ""
            return f"{argument.name}: str{default}"
        if argument.kind == "shape":
            return f"*{argument.name}: int"
        if argument.default == "all":
            return f"{argument.name}: Optional[int] = None"
        kind = "float" if argument.kind == "float" else "int"
        return f"{argument.name}: {kind}" + (
            f" = {argument.default}" if argument.default else "")

    def _given(self, argument: Argument) -> str:
        name = argument.name
        if argument.kind == "tensor":
            if argument.optional:
                return f'_optional({name}, "{name}")'
            return f'need({name}, Tensor, "{name}")'
        if argument.kind == "enum":
            return f'chosen("{name}", {name})'
        if argument.default == "all":
            return f"_ALL if {name} is None else {name}"
        return name


def _taken(taken: Input) -> str:
    """Returns the parameter of a plain function."""
    kinds = {"int64": "int", "path": "Path", "handle": pascal(words_of(taken.of))}
    return f"{taken.name}: {kinds[taken.kind]}"


def _passed(taken: Input) -> str:
    """Returns the argument for the library."""
    name = taken.name
    return {"path": f"os.fsencode({name})", "dtype": f"dtype_number({name})",
            "handle": f'need({name}, {pascal(words_of(taken.of))}Handle, "{name}")',
            }.get(taken.kind, name)
