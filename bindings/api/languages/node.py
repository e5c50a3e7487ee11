"""TypeScript: interfaces of options and reports, unions of texts, exceptions, ops."""

import re
from pathlib import Path

from calls import Call, Input
from headers import Constant, Struct
from language import Language, block
from members import (UNSIGNED, Member, camel, choices, end_numbers, jsons, kinds,
                     members, pascal, report_of, reports, text_of, times, report_words, truths,
                     words_of)
from tensors import Argument, arguments, is_reduction, op_words, ops

_SHARED = Path(__file__).resolve().parents[2] / "js"
_BASES = {"RC_E_DEVICE_LOST": "DeviceError"}
# A RangeError, written by hand.
_BY_HAND = "RC_E_INVALID_ARGUMENT"
# Ops whose optional tensors are options, written by hand.
_OPS_BY_HAND = {"rc_op_fused_linear", "rc_op_conv2d"}
_TYPES = {"flag": "boolean", "text": "string", "json": "JsonOption",
          "pair": "Pair"}
# Types of the results of plain functions.
_GIVEN = {"": "void", "int64": "number", "tokens": "Int32Array", "bytes": "Uint8Array",
          "json": "Record<string, unknown>", "owned json": "Record<string, unknown>"}


class Made(Language):
    suffix = ".ts"
    mark = re.compile(r"^(?P<indent>[ \t]*)/\*\* @c (?P<names>[\w. ]+?) \*/\n",
                      re.MULTILINE)
    nothing = "null"
    unit = "milliseconds"
    units = ("milliseconds",)
    error_words = {"RC_E_IO": "File"}
    own_places = {"rc_backend_open": "Backend.open", "rc_model_load": "Model.load",
                  "rc_model_info_open": "Model.load",
                  "rc_tokenizer_open": "Tokenizer.open",
                  "rc_error_retry_after_ms": "RuncibleError.retryAfter"}

    def method_words(self, words):
        return camel(words)

    def enum_name(self, enum):
        return pascal(enum.name[len("rc_"):])

    def member_name(self, member):
        return camel(member.without_unit)

    def comment(self, found, text):
        return self._doc(text, found["indent"])

    def _doc(self, text: str, indent: str = "") -> str:
        text = text.replace("*/", "* /")
        if not text:
            return ""
        if "\n" not in text and len(indent + text) < 72:
            return f"{indent}/** {text} */\n"
        return f"{indent}/**\n{self.filled(text, ' * ', indent)}{indent} */\n"

    def files(self):
        return {"members.ts": self._members()}

    def shared(self):
        return {path.name: path.read_text(encoding="utf-8") for path in _SHARED.glob("*.ts")}

    def parts(self):
        return {
            **super().parts(),
            "errors": lambda _: "\n".join(
                self._error(each) for each in self.api.statuses
                if each.name != _BY_HAND),
            "classes": lambda _: block(
                f"{self.error_name(each)}," for each in self.api.statuses),
            "options": lambda name: block(self._option(each) for each in members(
                self.api, self.struct(name))),
            "report_types": lambda _: "\n".join(
                self._report(each) for each in reports(self.api)),
            "values": self._values,
            "release": self._release,
            "ops": lambda _: "\n".join(self.op(each) for each in ops(self.api)
                                       if each.name not in _OPS_BY_HAND),
        }

    # ---- Tables of members that the package needs at run time

    def _members(self) -> str:
        """Returns the tables of members that differ from C."""
        named_times = [f'  {camel(name)}: "{member}",'
                       for name, member in times(self.api).items()]
        named = [f'  {camel(name)}: "{enum.prefix[len("RC_"):]}",'
                 for name, enum in choices(self.api).items()]
        texts = [f'  [native.{each.native}, "{text}"],'
                 for each, text in kinds(self.api).items()]
        return block([
            "/** Members that differ from the numbers and texts of C. */",
            'import { native } from "./native";', "",
            "/** Constants of the library. */", "export const rc = native;", "",
            "/** Options that are times: their members in C. */",
            "export const times: Readonly<Record<string, string>> = {",
            *named_times, "};", "",
            "/** Options that are given by name: the prefix of their constants. */",
            "export const choices: Readonly<Record<string, string>> = {",
            *named, "};", "", *self.json_names(),
            "/** Members of reports that are true or false. */",
            "export const flags: ReadonlySet<string> = new Set([",
            *(f'  "{camel(each)}",' for each in truths(self.api)), "]);", "",
            "/** The numbers of a generation's report, in their order. */",
            "export const endNumbers: readonly string[] = [",
            *(f'  "{camel(each)}",' for each in end_numbers(self.api)), "];", "",
            "/** Kinds of devices, by their numbers. */",
            "export const kinds: ReadonlyMap<number, string> = new Map([",
            *texts, "]);"])

    def json_names(self):
        return ["/** Options that are JSON. */",
                "export const jsons: ReadonlySet<string> = new Set([",
                *(f'  "{camel(name)}",' for name in jsons(self.api)), "]);", ""]

    def _values(self, name: str) -> str:
        """Returns the union of the texts of an enumeration."""
        enum = self.api.enum(name) or self.api.enum_of_prefix(name)
        texts = [f'| "{text_of(self.api, enum, each)}"' for each in enum.constants]
        return "\n".join(texts) + ";\n"

    # ---- Errors

    def _error(self, status: Constant) -> str:
        base = _BASES.get(status.name, "RuncibleError")
        return (f"{self._doc(self.said(status.doc))}"
                f"export class {self.error_name(status)} extends {base} {{\n"
                f"  static override readonly status: number = {status.value};\n}}\n")

    # ---- Options and reports

    def _type(self, member: Member) -> str:
        if member.of is not None:
            return f"readonly {pascal(words_of(member.of.name))}[]"
        if member.enum is not None:
            if member.enum.name in ("rc_dtype", "rc_device_kind", "rc_end_reason"):
                return pascal(words_of(member.enum.name))
            return " | ".join(f'"{text_of(self.api, member.enum, each)}"'
                              for each in member.enum.constants)
        return _TYPES.get(member.kind, "number")

    def _option(self, member: Member) -> str:
        kind = self._type(member) + (" | bigint" if member.name in UNSIGNED else "")
        return (f"{self._doc(self.said_of(member))}"
                f"{self.member_name(member)}?: {kind} | undefined;")

    def _report(self, struct: Struct) -> str:
        lines = "".join(
            f"{self._doc(self.said_of(each), '  ')}  readonly {camel(each.name)}: "
            f"{'bigint' if each.name in UNSIGNED else self._type(each)};\n"
            for each in members(self.api, struct))
        return (f"{self._doc(self.said(struct.doc))}"
                f"export interface {pascal(words_of(struct.name))} {{\n{lines}}}\n")

    def report_member(self, handle: str, function) -> str:
        struct = report_of(self.api, function)
        kind = pascal(words_of(struct.name))
        return (f"{self._doc(self.said(struct.doc))}"
                f"get {camel(report_words(handle, function))}(): reports.{kind} {{\n"
                f'  return readReport<reports.{kind}>("{struct.native}", (report) =>\n'
                f"    native.{function.native}(this._handle, report),\n  );\n}}\n")

    # ---- Plain functions

    def plain(self, handle: str, call: Call) -> str:
        kind, name = pascal(words_of(handle)), camel(call.words)
        gives = kind if call.gives == "handle" else _GIVEN[call.gives]
        given = ["handle" if call.exclusive else "this._handle",
                 *(_passed(each) for each in call.inputs)]
        parameters = ", ".join(_taken(each) for each in call.inputs)
        doc = self._doc(self.said(call.function.doc))
        if not call.exclusive and not call.moves:
            called = f"native.{call.native}({', '.join(given)})"
            value = f"JSON.parse({called})" if "json" in call.gives else called
            head = "get " * (call.gives == "int64" and not call.inputs) + name
            return block([f"{doc}{head}({parameters}): {gives} {{",
                          f"  return {value};", "}"])
        if call.moves:
            model, kind = call.inputs[0].name, _class_of(call.inputs[0])
            return block([
                f"{doc}async {name}({parameters}): Promise<void> {{",
                f'  const other = need({model}, {kind}, "{model}");',
                f"  await native.{call.native}_later(this._handle, other);",
                f"  this.#model = {model};", "}"])
        turn = (f"this.#turn((handle) =>\n    native.{call.native}_later"
                f"({', '.join(given)}),\n  )")
        others = [each.name for each in call.of_kind("handle")]
        needed = [f'  const other = need({each.name}, {_class_of(each)}, "{each.name}");'
                  for each in call.of_kind("handle")]
        if call.gives != "handle":
            head = "async " * bool(needed) + name
            return block([f"{doc}{head}({parameters}): Promise<{gives}> {{", *needed,
                          f"  return {turn};", "}"])
        return block([
            f"{doc}async {name}({parameters}): Promise<{gives}> {{", *needed,
            f"  const proxy = await {turn};",
            f"  return new {kind}(proxy, {others[0] if others else 'this.#model'});",
            "}"])

    def maker(self, call: Call) -> str:
        lines = ["  shape: readonly number[],", "  backend: Backend,"]
        body = []
        if call.options is not None:
            kind = pascal(words_of(call.options.name))
            lines.append(f"  options?: {kind},")
            body.append(f'  const made = optionsOf("{call.options.native}", options);')
        else:
            lines.append('  { dtype = "f32" }: TensorOptions = {},')
        given = ["handle", *(_passed(each) for each in call.inputs)]
        return block([
            f"{self._doc(self.said(call.function.doc))}static {camel(call.words)}(",
            *lines, "): Tensor {", *body, "  const sizes = plain(shape);",
            '  const handle = need(backend, Backend, "backend");',
            f"  return new Tensor(native.{call.native}({', '.join(given)}));", "}"])

    def _release(self, handle: str) -> str:
        return block(["/** @internal */", "protected override get _type(): string {",
                      f'  return "{words_of(handle)}";', "}"])

    # ---- Ops

    def op(self, function) -> str:
        taken = arguments(self.api, function)
        doc = self._doc(self.said_of_op(function))
        head = f"{doc}{camel(op_words(function))}"
        if is_reduction(function):
            return (f"{head}(dimension?: number, options?: {{ keep?: boolean }}): "
                    f"Tensor {{\n  return this.#reduced(native.{function.native}, "
                    "dimension, options);\n}\n")
        parameters = ", ".join(self._parameter(each) for each in taken)
        given = "".join(f"    {self._given(each)},\n" for each in taken)
        return (f"{head}({parameters}): Tensor {{\n"
                f"  return this.#made(\n    native.{function.native},\n{given}"
                "  );\n}\n")

    def _parameter(self, argument: Argument) -> str:
        name = camel(argument.name)
        if argument.kind == "tensor":
            return f"{name}{'?' if argument.optional else ''}: Tensor"
        if argument.struct is not None:
            return f"{name}?: {pascal(words_of(argument.struct.name))}"
        if argument.enum is not None:
            return f"{name}: {pascal(words_of(argument.enum.name))}"
        if argument.kind == "shape":
            return f"...{name}: number[]"
        if argument.kind == "flag":
            return f"{name} = false"
        return f"{name} = {argument.default}" if argument.default else f"{name}: number"

    def _given(self, argument: Argument) -> str:
        name = camel(argument.name)
        if argument.kind == "tensor":
            check = "optional" if argument.optional else "operand"
            return f'{check}({name}, "{name}")'
        if argument.struct is not None:
            return f'optionsOf("{argument.struct.native}", {name})'
        if argument.kind == "flag":
            return f"{name} ? 1 : 0"
        return f"dtypeNumber({name})" if argument.enum is not None else name


def _taken(taken: Input) -> str:
    """Returns the parameter of a plain function."""
    kinds = {"int64": "number", "path": "Path", "handle": pascal(words_of(taken.of))}
    return f"{camel(taken.name)}: {kinds[taken.kind]}"


def _passed(taken: Input) -> str:
    """Returns the argument for the library."""
    name = camel(taken.name)
    return {"path": f"pathOf({name})", "handle": "other", "shape": "sizes",
            "dtype": f"dtypeNumber({name})", "options": "made"}.get(taken.kind, name)


def _class_of(given: Input) -> str:
    """Returns the class of an argument that is a handle."""
    return "ModelHandle" if given.of == "rc_model" else pascal(words_of(given.of))
