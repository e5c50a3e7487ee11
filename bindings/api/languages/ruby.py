"""Ruby: keywords of options, structs of reports, exceptions, ops."""

import re
import textwrap

from calls import Call
from headers import Constant, Struct
from language import Language, block
from members import (choices, jsons, kinds, members, pairs, pascal, report_of, reports,
                     times, report_words, truths, words_of)
from tensors import Argument, arguments, op_words

# Ruby's own exceptions with the same meaning; RuntimeError for others.
_BASES = {
    "RC_E_INVALID_ARGUMENT": "ArgumentError",
    "RC_E_NOT_FOUND": "Errno::ENOENT",
    "RC_E_IO": "SystemCallError",
    "RC_E_DEVICE_LOST": "DeviceError",
    "RC_E_TIMEOUT": "Timeout::Error",
    "RC_E_DEADLINE": "Timeout::Error",
    "RC_E_CLOSED": "IOError",
}
# Additional lines of a class.
_LINES = {"RC_E_IO": "  Errno = ::Errno::EIO::Errno # where the system gave no other\n"}
_OPERATORS = {"add": "+", "mul": "*"}


class Made(Language):
    suffix = ".rb"
    mark = re.compile(r"^(?P<indent>[ \t]*)# :header: (?P<names>\S+)\n", re.MULTILINE)
    nothing = "nil"
    units = ("milliseconds",)  # other times are numbers with their unit in the name
    error_words = {"RC_E_IO": "File", "RC_E_TIMEOUT": "WaitTimeout"}
    options_are_keywords = True
    lists_members = True
    method_form, maker_form, function_form = "{}#{}", "{}.new", "Runcible.{}"

    def said(self, comment):
        return re.sub(r"`(\w+)`", r"+\1+", super().said(comment))

    def comment(self, found, text):
        struct = self.api.structs.get(found["names"])
        if struct is not None:
            return self._listed(struct, found["indent"])
        return self.filled(text, "# ", found["indent"])

    def _listed(self, struct: Struct, indent: str = "") -> str:
        """Returns the documentation of a struct and of its members one by one."""
        made = self.filled(self.said(struct.doc), "# ", indent) if struct.doc else ""
        for each in members(self.api, struct):
            name = each.without_unit if self.converts(each) else each.name
            said = self.lines(f"{name}:: {self.said_of(each)}", "# ", indent)
            made += f"{indent}#\n{said}"
        return made

    def files(self):
        return {"runcible/members.rb": self._members()}

    def parts(self):
        return {
            **super().parts(),
            "errors": lambda _: "\n".join(
                self._error(each) for each in self.api.statuses),
            "structs": lambda _: "\n".join(
                self._report(each) for each in reports(self.api)),
            "keywords": lambda name: _wrapped(
                f"{each.without_unit}: nil"
                for each in members(self.api, self.struct(name))) + "\n",
            "values": lambda name: _wrapped(
                f"{each.without_unit}: {each.without_unit}"
                for each in members(self.api, self.struct(name))) + "\n",
        }

    # ---- Tables of members that the package needs at run time

    def _members(self) -> str:
        named_times = ", ".join(f"{name}: :{member}"
                                for name, member in times(self.api).items())
        named = ",\n".join(f'    {name}: MEMBER.call("{enum.prefix[3:]}")'
                           for name, enum in choices(self.api).items())
        texts = ",\n".join(f'    Native::{each.native} => "{text}"'
                           for each, text in kinds(self.api).items())
        return block([
            "# frozen_string_literal: true", "", "module Runcible",
            "  # Returns constants with a prefix, by the rest of their names in lower case.",
            "  MEMBER = lambda do |prefix|",
            "    Native.constants.grep(/\\A#{prefix}/).to_h do |name|",
            "      [name.to_s.delete_prefix(prefix).downcase.freeze, "
            "Native.const_get(name)]", "    end.freeze", "  end",
            "  # Options that are times: their members in C.",
            f"  TIMES = {{ {named_times} }}.freeze",
            "  # Options that are two numbers, vertical and horizontal.",
            f"  PAIRS = %i[{' '.join(pairs(self.api))}].freeze",
            "  # Options that are JSON.",
            f"  JSONS = %i[{' '.join(jsons(self.api))}].freeze",
            "  # Options that are given by name: their numbers.",
            f"  CHOICES = {{\n{named}\n  }}.freeze",
            "  # Members of reports that are true or false.",
            f"  TRUTHS = %i[{' '.join(truths(self.api))}].freeze",
            "  # Kinds of devices, by their numbers.",
            f"  KINDS = {{\n{texts}\n  }}.freeze",
            "  private_constant :MEMBER, :TIMES, :PAIRS, :JSONS, :CHOICES, :TRUTHS, :KINDS",
            "end"])

    # ---- Errors and reports

    def _error(self, status: Constant) -> str:
        base = _BASES.get(status.name, "RuntimeError")
        own = any(self.error_name(each) == base for each in self.api.statuses)
        return (f"{self.filled(self.said(status.doc), '# ')}"
                f"class {self.error_name(status)} < {base}\n"
                + ("" if own else "  include Error\n") + _LINES.get(status.name, "")
                + f"  @status = {status.value}\nend\n")

    def _report(self, struct: Struct) -> str:
        names = _wrapped([*(f":{each.name}" for each in members(self.api, struct)),
                          "keyword_init: true"])
        return (f"{self._listed(struct)}{pascal(words_of(struct.name))} = Struct.new(\n"
                f"{textwrap.indent(names, '  ')}\n)\n")

    def report_member(self, handle: str, function) -> str:
        struct = report_of(self.api, function)
        swig = struct.native.capitalize()
        return (f"{self.filled(self.said(struct.doc), '# ')}"
                f"def {report_words(handle, function)}\n"
                f"  report = Native::{swig}.new\n  handle = proxy\n"
                f"  Native.{function.native}(handle, report)\n"
                f"  Reports.copied({pascal(words_of(struct.name))}, report)\nend\n")

    # ---- Plain functions

    def plain(self, handle: str, call: Call) -> str:
        before, given = [], []
        for each in call.inputs:
            if each.kind == "path":
                before.append(f"  {each.name} = Arguments.path({each.name})")
            if each.kind == "handle":
                kind = pascal(words_of(each.of))
                before.append(f'  other = Arguments.proxy_of({each.name}, {kind}, '
                              f'"{each.name}")')
            given.append("other" if each.kind == "handle" else each.name)
        if call.exclusive and call.changes:
            lines = [f"  alone {{ {_called(call, ['proxy', *given])} }}", "  self"]
        elif call.is_long:
            before.append(f"  handle = {'idle' if call.exclusive else 'proxy'}")
            waited = ("Cooperation.wait_for { "
                      f"{_called(call, ['handle', *given])} }}")
            value = self._value_of(call, "made")
            lines = [f"  made = {waited}", f"  {value}"]
            if call.moves:
                lines = [f"  {waited}", f"  @model = {call.inputs[0].name}", "  self"]
            elif value == "made":
                lines = [f"  {waited}", *["  nil"] * (not call.gives)]
        else:
            own = "idle" if call.exclusive else "proxy"
            lines = [f"  {self._value_of(call, _called(call, [own, *given]))}"]
            lines += ["  self"] * call.changes
        names = ", ".join(each.name for each in call.inputs)
        return (self.filled(self.said(call.function.doc), "# ") + block(
            [f"def {call.words}" + (f"({names})" if names else ""), *before, *lines,
             "end"]))

    def _value_of(self, call: Call, value: str) -> str:
        """Converts a value of the library to the result of a plain function."""
        if call.gives == "handle":
            model = next((each.name for each in call.of_kind("handle")), "model")
            return f"self.class.__send__(:of, {value}, {model})"
        return f"JSON.parse({value})" if "json" in call.gives else value

    def maker(self, call: Call) -> str:
        doc, lines = self.filled(self.said(call.function.doc), "# "), []
        given = ['Arguments.proxy_of(backend, Backend, "backend")',
                 *('Arguments.choice(DTYPES, dtype, "dtype")' if each.kind == "dtype"
                   else each.name for each in call.inputs)]
        taken = ["shape", "backend", 'dtype: "f32"']
        if call.options is not None:
            doc += f"#\n{self._listed(call.options)}"
            shown = members(self.api, call.options)
            taken[2:] = [f"{member.name}: nil" for member in shown]
            lines = self._set_options(call.options)
        return doc + block([
            self._head(f"self.{call.words}", taken), *lines,
            f"  made = Native.{call.native}(", textwrap.indent(_wrapped(given), "    "),
            "  )", "  of(made)", "end"])

    def _head(self, name: str, parameters) -> str:
        head = f"def {name}" + (f"({', '.join(parameters)})" if parameters else "")
        if len(head) <= self.width - 6:
            return head
        return f"def {name}(\n{textwrap.indent(_wrapped(parameters), '  ')}\n)"

    def _set_options(self, struct: Struct):
        values = _wrapped(f"{member.name}: {member.name}"
                          for member in members(self.api, struct))
        return ["  options = Arguments.set(",
                f"    Native::{struct.native.capitalize()}.new,",
                textwrap.indent(values, "    "), "  )"]

    # ---- Ops

    def op(self, function) -> str:
        taken = arguments(self.api, function)
        name = _OPERATORS.get(op_words(function), op_words(function))
        said = self.said_of_op(function)
        doc, lines = self.filled(said, "# "), []
        parameters = []
        for each in taken:
            if each.struct is None:
                parameters.append(_parameter(each))
                continue
            doc += f"#\n{self._listed(each.struct)}"
            shown = members(self.api, each.struct)
            parameters += [f"{member.name}: nil" for member in shown]
            lines += self._set_options(each.struct)
        given = "".join(f", {_given(each)}" for each in taken)
        return doc + block([self._head(name, parameters), *lines,
                            f"  made(:{function.native}{given})", "end"])


def _called(call: Call, given) -> str:
    return f"Native.{call.native}({', '.join(given)})"


def _wrapped(parts) -> str:
    return textwrap.fill(", ".join(part.replace(" ", "\0") for part in parts), 70,
                         break_long_words=False).replace("\0", " ")


def _parameter(argument: Argument) -> str:
    name = _name(argument)
    if argument.kind == "tensor":
        return f"{name} = nil" if argument.optional else name
    if argument.kind == "enum":
        return f"{name}: :none" if argument.default else name
    if argument.kind == "shape":
        return f"*{name}"
    if argument.kind == "flag":
        return f"{name}: false"
    if argument.kind == "float":
        return f"{name}: {argument.default}"
    default = {"all": "nil"}.get(argument.default, argument.default)
    return f"{name} = {default}" if default else name


def _name(argument: Argument) -> str:
    """Returns the name of an argument: other operands have short names."""
    tensors = {"b": "other", "k": "keys", "v": "values"}
    numbers = {"begin": "first", "end": "last"}
    names = tensors if argument.kind == "tensor" else numbers
    return names.get(argument.name, argument.name)


def _given(argument: Argument) -> str:
    name = _name(argument)
    if argument.kind == "tensor":
        return f"optional({name})" if argument.optional else f"operand({name})"
    if argument.kind == "enum":
        choices = "DTYPES" if argument.enum.name == "rc_dtype" else "FUNCTIONS"
        return f'Arguments.choice({choices}, {name}, "{name}")'
    if argument.kind == "flag":
        return f"{name} ? 1 : 0"
    if argument.default == "all":
        return f"{name}.nil? ? ALL : {name}"
    return name
