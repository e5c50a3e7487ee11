"""TypeScript: interfaces of options and reports, unions of texts, exceptions, ops."""

import re

from headers import Constant, Struct
from language import Language, block
from members import (Member, camel, choices, end_numbers, kinds, members, pascal,
                     report_of, reports, text_of, times, told_words, truths,
                     words_of)
from tensors import Argument, arguments, is_reduction, op_words, ops

_BASES = {"RC_E_DEVICE_LOST": "DeviceError"}
# A RangeError, by hand.
_BY_HAND = "RC_E_INVALID_ARGUMENT"
# Ops whose optional tensors are options, by hand.
_OPS_BY_HAND = {"rc_op_fused_linear", "rc_op_conv2d"}
_TYPES = {"flag": "boolean", "text": "string", "pair": "Pair"}
# Numbers of the library that may have all 64 bits.
_BIG = {"seed"}


class Made(Language):
    suffix = ".ts"
    mark = re.compile(r"^(?P<indent>[ \t]*)/\*\* @c (?P<names>[\w. ]+?) \*/\n",
                      re.MULTILINE)
    nothing = "null"
    unit = "milliseconds"
    units = ("milliseconds",)
    error_words = {"RC_E_IO": "File"}

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
            "ops": lambda _: "\n".join(self.op(each) for each in ops(self.api)
                                       if each.name not in _OPS_BY_HAND),
        }

    # ---- What the package has to know of members when it runs

    def _members(self) -> str:
        """Members that are more than what they are in C."""
        named_times = [f'  {camel(name)}: "{member}",'
                       for name, member in times(self.api).items()]
        named = [f'  {camel(name)}: "{enum.prefix[len("RC_"):]}",'
                 for name, enum in choices(self.api).items()]
        texts = [f'  [native.{each.name[3:]}, "{text}"],'
                 for each, text in kinds(self.api).items()]
        return block([
            "/** What members are that are more than numbers and texts of C. */",
            'import { native } from "./native";', "",
            "/** Options that are times: their members of C. */",
            "export const times: Readonly<Record<string, string>> = {",
            *named_times, "};", "",
            "/** Options that are told by a name: what the constants begin with. */",
            "export const choices: Readonly<Record<string, string>> = {",
            *named, "};", "",
            "/** Members of reports that are yes or no. */",
            "export const flags: ReadonlySet<string> = new Set([",
            *(f'  "{camel(each)}",' for each in truths(self.api)), "]);", "",
            "/** Of how a generation ended: its numbers, in their order. */",
            "export const endNumbers: readonly string[] = [",
            *(f'  "{camel(each)}",' for each in end_numbers(self.api)), "];", "",
            "/** What devices are, by their numbers. */",
            "export const kinds: ReadonlyMap<number, string> = new Map([",
            *texts, "]);"])

    def _values(self, name: str) -> str:
        """The union of the texts of an enumeration."""
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
        kind = self._type(member) + (" | bigint" if member.name in _BIG else "")
        return (f"{self._doc(self.said_of(member))}"
                f"{self.member_name(member)}?: {kind} | undefined;")

    def _report(self, struct: Struct) -> str:
        lines = "".join(
            f"{self._doc(self.said_of(each), '  ')}  readonly {camel(each.name)}: "
            f"{'bigint' if each.name in _BIG else self._type(each)};\n"
            for each in members(self.api, struct))
        return (f"{self._doc(self.said(struct.doc))}"
                f"export interface {pascal(words_of(struct.name))} {{\n{lines}}}\n")

    def told(self, handle: str, function) -> str:
        struct = report_of(self.api, function)
        kind = pascal(words_of(struct.name))
        return (f"{self._doc(self.said(struct.doc))}"
                f"get {camel(told_words(handle, function))}(): reports.{kind} {{\n"
                f'  return told<reports.{kind}>("{struct.name[3:]}", (report) =>\n'
                f"    native.{function.name[3:]}(this._handle, report),\n  );\n}}\n")

    # ---- Ops

    def op(self, function) -> str:
        taken = arguments(self.api, function)
        doc = self._doc(self.said_of_op(function))
        head = f"{doc}{camel(op_words(function))}"
        if is_reduction(function):
            return (f"{head}(dimension?: number, options?: {{ keep?: boolean }}): "
                    f"Tensor {{\n  return this.#reduced(native.{function.name[3:]}, "
                    "dimension, options);\n}\n")
        parameters = ", ".join(self._parameter(each) for each in taken)
        given = "".join(f"    {self._given(each)},\n" for each in taken)
        return (f"{head}({parameters}): Tensor {{\n"
                f"  return this.#made(\n    native.{function.name[3:]},\n{given}"
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
        return f"{name} = {argument.default}" if argument.default else f"{name}: number"

    def _given(self, argument: Argument) -> str:
        name = camel(argument.name)
        if argument.kind == "tensor":
            check = "optional" if argument.optional else "operand"
            return f'{check}({name}, "{name}")'
        if argument.struct is not None:
            return f'optionsOf("{argument.struct.name[3:]}", {name})'
        return f"dtypeNumber({name})" if argument.enum is not None else name
