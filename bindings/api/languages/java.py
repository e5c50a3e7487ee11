"""Java: options with setters, records of reports, enumerations, exceptions, ops."""

import html
import re

from headers import Constant, Enum, Struct
from language import Language, block, sentence, status_words
from members import (Member, camel, enum_words, members, options, pascal, report_of,
                     reports, shown_enums, told_by, told_words, words_of)
from tensors import Argument, arguments, is_reduction, op_words, ops

# Java's own unchecked exceptions of the same meaning; RuntimeException for others.
_BASES = {
    "RC_E_INVALID_ARGUMENT": "IllegalArgumentException",
    "RC_E_NOT_FOUND": "UncheckedIOException",
    "RC_E_IO": "UncheckedIOException",
    "RC_E_UNSUPPORTED": "UnsupportedOperationException",
    "RC_E_DEVICE_LOST": "Device",
    "RC_E_CANCELLED": "CancellationException",
    "RC_E_CONTEXT_FULL": "IllegalStateException",
    "RC_E_BUSY": "IllegalStateException",
    "RC_E_CLOSED": "IllegalStateException",
}
# What UncheckedIOException is made of.
_CAUSES = {"RC_E_NOT_FOUND": "FileNotFoundException", "RC_E_IO": "IOException"}
_TYPES = {"int32": "int", "int64": "long", "uint32": "int", "uint64": "long",
          "float": "double", "flag": "boolean", "text": "String", "pair": "int"}
# Numbers of the library that may have all 64 bits.
_UNSIGNED = {"seed"}
# Times that were numbers before there was a rule.
_NUMBERS = {"compute_us"}
_TIME = "Time"


class Made(Language):
    suffix = ".java"
    mark = re.compile(
        r"^(?P<indent>[ \t]*)(?P<begin>/\*\*| \*| \* @param \w+) "
        r"\{@rc (?P<names>[\w. ]+)\}(?P<end> \*/)?\n", re.MULTILINE)
    unit = ""

    def error_name(self, status: Constant) -> str:
        return f"RuncibleException.{status_words(status)}"

    def value_name(self, enum, constant):
        return f"{pascal(enum_words(self.api, enum))}.{enum.rest(constant)}"

    def member_name(self, member):
        return camel(member.without_unit)

    def said(self, comment):
        text = html.escape(super().said(comment), quote=False)
        text = text.replace("@", "&#64;").replace("*/", "*&#47;")
        return re.sub(r"\bRuncibleException\.\w+", r"{@link \g<0>}", text)

    def comment(self, found, text):
        if found["begin"] == "/**":
            return self._doc(text, found["indent"])
        if "@param" in found["begin"]:
            return self._parameter_doc(found["indent"] + found["begin"], text)
        return self._body(text, found["indent"])

    def _parameter_doc(self, begin: str, text: str) -> str:
        filled = self.lines(" ".join(f"{begin.strip()} {text}".split()), "  ")
        indent = begin[:begin.index("*")]
        return "".join(f"{indent}{'' if i == 0 else '*     '}{line.strip()}\n"
                       for i, line in enumerate(filled.splitlines()))

    def _body(self, text: str, indent: str) -> str:
        return self.filled(re.sub(r"\n\n+", "\n\n<p>", text), " * ", indent)

    def _doc(self, text: str, indent: str = "") -> str:
        if not text:
            return ""
        if "\n" not in text and len(indent + text) < self.width - 8:
            return f"{indent}/** {text} */\n"
        return f"{indent}/**\n{self._body(text, indent)}{indent} */\n"

    def files(self):
        made = {}
        for enum in shown_enums(self.api):
            name = pascal(enum_words(self.api, enum))
            if name != "Distribution":
                made[f"{name}.java"] = self._enum(name, enum)
        for struct in options(self.api):
            name = pascal(words_of(struct.name))
            made[f"{name}.java"] = self._options(name, struct)
        for struct in reports(self.api):
            name = pascal(words_of(struct.name))
            made[f"{name}.java"] = self._report(name, struct)
        return {f"runcible/{name}": text for name, text in made.items()}

    def parts(self):
        return {
            "errors": lambda _: block(self._error(each) for each in self.api.statuses),
            "entries": lambda _: ",\n".join(
                f"entry(\n    Native.{each.name[3:]},\n"
                f"    {self.error_name(each)}::new)"
                for each in self.api.statuses) + ");\n",
            "setters": lambda name: self._setters(self.struct(name)),
            "ops": lambda _: "\n".join(self._op(each) for each in ops(self.api)),
            "reports": lambda handle: "\n".join(
                self._told(handle, each) for each in told_by(self.api, handle)),
        }

    # ---- Enumerations

    def _enum(self, name: str, enum: Enum) -> str:
        values = []
        for each in enum.constants:
            doc = sentence(self.said_flat(each.doc))
            values.append(f"{self._doc(doc, '  ')}"
                          f"  {enum.rest(each)}(Native.{each.name[3:]})")
        values = ",\n".join(values)
        return (f"package runcible;\n\n{self._doc(self.said(enum.doc))}"
                f"public enum {name} {{\n{values};\n\n  private final int number;\n\n"
                f"  {name}(int number) {{\n    this.number = number;\n  }}\n\n"
                f"  int number() {{\n    return number;\n  }}\n\n"
                f"{self._of(name, enum)}}}\n")

    def _of(self, name: str, enum: Enum) -> str:
        rests = [enum.rest(each) for each in enum.constants]
        other = next((each for each in ("OTHER", "ERROR") if each in rests), None)
        beyond = f"return {other};" if other else (
            "throw new RuncibleException.Unsupported(\n        "
            f'"{name} " + number + " is not known to this package", null);')
        return ("  /** Of a number of the library. */\n"
                f"  static {name} of(long number) {{\n"
                f"    for ({name} each : values()) {{\n"
                "      if (each.number == number) {\n        return each;\n      }\n"
                f"    }}\n    {beyond}\n  }}\n")

    # ---- Errors

    def _error(self, status: Constant) -> str:
        name = status_words(status)
        base = _BASES.get(status.name, "RuntimeException")
        own = any(status_words(each) == base for each in self.api.statuses)
        inherited = name in _BASES.values()
        given = "message"
        if status.name in _CAUSES:
            given = f"message, new {_CAUSES[status.name]}(message)"
        lines = [f"{self._doc(self.said(status.doc))}"
                 f"{'' if inherited else 'final '}class {name} extends {base}"
                 + ("" if own else "\n    implements RuncibleException") + " {",
                 "  private static final long serialVersionUID = 1;"]
        if not own:
            lines.append("  private final transient Report report;")
        lines += ["", f"  {name}(String message, Report report) {{",
                  f"    super({given}{', report' if own else ''});",
                  *([] if own else ["    this.report = report;"]), "  }", "",
                  "  @Override", "  public int status() {",
                  f"    return Native.{status.name[3:]};", "  }"]
        if not own:
            lines += ["", "  @Override", "  public Optional<Report> report() {",
                      "    return Optional.ofNullable(report);", "  }"]
        return block([*lines, "}"])

    # ---- Options

    def _options(self, name: str, struct: Struct) -> str:
        uses = "import java.time.Duration;\n\n" if any(
            each.unit for each in members(self.api, struct)) else ""
        native = struct.name[3:]
        doc = (f"{self.said(struct.doc)}\n\nWhat is not set has the default of the "
               "library. The setters give the object itself.")
        return (f"package runcible;\n\n{uses}{self._doc(doc)}"
                f"public final class {name} {{\n"
                f"  private final Settings<{native}> settings =\n"
                f"      new Settings<>({native}::new);\n\n"
                f"  /** Nothing is set. */\n  public {name}() {{}}\n\n"
                + re.sub(r"^(?=.)", "  ", self._setters(struct), flags=re.MULTILINE)
                + f"\n  {native} make() {{\n    return settings.make();\n  }}\n}}\n")

    def _setters(self, struct: Struct) -> str:
        name = pascal(words_of(struct.name))
        return "\n".join(self._setter(name, each)
                         for each in members(self.api, struct))

    def _setter(self, name: str, member: Member) -> str:
        own = camel(member.without_unit)
        setter = "set" + member.name[:1].upper() + member.name[1:]
        parameter, before, value = f"{self._type(member)} value", "", "value"
        if member.kind == "pair":
            parameter, value = "int down, int across", "down, across"
            setter = f"set_{member.name}"
        elif member.unit:
            before = f'  long number = Limits.milliseconds(value, "{own}");\n'
            value = "number"
        elif member.enum is not None:
            before, value = "  int number = value.number();\n", "number"
        elif member.kind == "uint64" and member.name not in _UNSIGNED:
            before = f'  Limits.notNegative(value, "{own}");\n'
        elif member.kind == "flag":
            value = "value ? 1 : 0"
        elif member.kind == "float":
            value = "(float) value"
        doc = self.said_of(member)
        if member.name in _UNSIGNED:
            doc += " Read as an unsigned number."
        return (f"{self._doc(doc)}public {name} {own}({parameter}) {{\n{before}"
                f"  settings.add(options -> options.{setter}({value}));\n"
                "  return this;\n}\n")

    def _type(self, member: Member) -> str:
        if member.of is not None:
            return f"List<{pascal(words_of(member.of.name))}>"
        if member.enum is not None:
            return pascal(enum_words(self.api, member.enum))
        if member.unit and member.name not in _NUMBERS:
            return "Duration"
        return _TYPES[member.kind]

    # ---- Reports

    def converts(self, member: Member) -> bool:
        return member.name not in _NUMBERS

    def _report(self, name: str, struct: Struct) -> str:
        shown = members(self.api, struct)
        uses = [("java.time.Duration", any(self._type(each) == "Duration"
                                           for each in shown)),
                ("java.util.List", any(each.of for each in shown))]
        imports = "".join(f"import {each};\n" for each, used in uses if used)
        imports += "\n" if imports else ""
        doc = self._body(self.said(struct.doc), "") + " *\n"
        for each in shown:
            said = self.said_of(each)
            text = f"@param {self._name(each)} {said or 'its ' + each.name}"
            doc += self._parameter_doc(" * ", text)
        parameters = ",\n".join(f"    {self._type(each)} {self._name(each)}"
                                for each in shown)
        make = self._of_numbers if name == "Report" else self._of_report
        return (f"package runcible;\n\n{imports}/**\n{doc} */\n"
                f"public record {name}(\n{parameters}) {{\n"
                f"{make(name, struct, shown)}}}\n")

    def _name(self, member: Member) -> str:
        if member.unit and member.name not in _NUMBERS:
            return camel(member.without_unit) + _TIME
        return camel(member.name)

    def _of_numbers(self, name, struct, shown) -> str:
        values = []
        for i, each in enumerate(shown):
            value = f"numbers[{i}]"
            if each.enum is not None:
                value = f"{self._type(each)}.of({value})"
            elif each.unit:
                value = _duration(each, value)
            values.append(f"        {value}")
        values = ",\n".join(values)
        return (f"  /** Of the numbers in the order of {struct.name}. */\n"
                f"  static {name} of(long[] numbers) {{\n"
                f"    return new {name}(\n{values});\n  }}\n")

    def _of_report(self, name, struct, shown) -> str:
        lists = "".join(f", {self._type(each)} {each.name}"
                        for each in shown if each.of)
        values = ",\n".join(f"        {self._value(each)}" for each in shown)
        return (f"  static {name} of({struct.name[3:]} report{lists}) {{\n"
                f"    return new {name}(\n{values});\n  }}\n")

    def _value(self, member: Member) -> str:
        got = f"report.get{member.name[:1].upper()}{member.name[1:]}()"
        if member.of is not None:
            return member.name
        if member.enum is not None:
            return f"{self._type(member)}.of({got})"
        if member.kind == "text":
            return f"Text.decode({got})"
        if member.unit and self.converts(member):
            return _duration(member, got)
        return f"{got} != 0" if member.kind == "flag" else got

    def _told(self, handle: str, function) -> str:
        """A method whose value a function of the headers tells."""
        struct = report_of(self.api, function)
        kind, native = pascal(words_of(struct.name)), struct.name[3:]
        return (f"{self._doc(self.said(struct.doc))}"
                f"public {kind} {camel(told_words(handle, function))}() {{\n"
                f"  try ({native} report = new {native}()) {{\n"
                f"    Native.{function.name[3:]}(handle, report);\n"
                f"    return {kind}.of(report);\n  }}\n}}\n")

    # ---- Ops

    def _op(self, function) -> str:
        taken = arguments(self.api, function)
        name = camel(op_words(function))
        given = ["handle", *(self._given(each) for each in taken)]
        struct = next((each.struct for each in taken if each.struct), None)
        indent = "    " if struct is not None else "  "
        body = self.call(f"{indent}return new Tensor(Native.{function.name[3:]}", given,
                         ");\n")
        if struct is not None:
            body = f"  try ({struct.name[3:]} made = options.make()) {{\n{body}  }}\n"
        head = self.call(f"public Tensor {name}",
                         [self._parameter(each) for each in taken], " {\n")
        made = f"{self._doc(self.said_of_op(function))}{head}{body}}}\n"
        if is_reduction(function):
            made = (f"/** The same as {{@link #{name}(int, boolean)}} over all "
                    f"dimensions; shape [1]. */\npublic Tensor {name}() {{\n"
                    f"  return {name}(ALL, false);\n}}\n\n{made}")
        return made

    def _parameter(self, argument: Argument) -> str:
        name = camel(argument.name)
        if argument.kind == "tensor":
            return f"Tensor {name}"
        if argument.struct is not None:
            return f"{pascal(words_of(argument.struct.name))} {name}"
        if argument.enum is not None:
            return f"{pascal(enum_words(self.api, argument.enum))} {name}"
        kind = "long..." if argument.kind == "shape" else _TYPES[argument.kind]
        return f"{kind} {name}"

    def _given(self, argument: Argument) -> str:
        name = camel(argument.name)
        if argument.kind == "tensor":
            return f"optional({name})" if argument.optional else f"{name}.handle"
        if argument.struct is not None:
            return "made"
        if argument.enum is not None:
            return f"{name}.number()"
        if argument.kind == "flag":
            return f"{name} ? 1 : 0"
        return f"(float) {name}" if argument.kind == "float" else name


def _duration(member: Member, number: str) -> str:
    """A time in its unit as a Duration."""
    make = {"milliseconds": "Duration.ofMillis", "microseconds": "Limits.microseconds"}
    return f"{make[member.unit]}({number})"
