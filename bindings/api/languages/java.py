"""Java: options with setters, records of reports, enumerations, exceptions, ops."""

import re

from headers import Constant, Enum, Struct
from language import block, sentence, status_words
from members import (UNSIGNED, Member, camel, enum_words, members, options, pascal,
                     reports, shown_enums, words_of)
from languages.java_calls import Calls

# Java's own unchecked exceptions with the same meaning; RuntimeException for others.
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
# The causes of UncheckedIOException.
_CAUSES = {"RC_E_NOT_FOUND": "FileNotFoundException", "RC_E_IO": "IOException"}
# Exceptions with hand-written classes.
_BY_HAND = {"RC_E_QUOTA"}
_TIME = "Time"


class Made(Calls):
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
            **super().parts(),
            "errors": lambda _: block(self._error(each) for each in self.api.statuses
                                      if each.name not in _BY_HAND),
            "entries": lambda _: ",\n".join(
                f"entry(\n    Native.{each.native},\n"
                f"    {self.error_name(each)}::new)"
                for each in self.api.statuses) + ");\n",
            "setters": lambda name: self._setters(self.struct(name)),
        }

    # ---- Enumerations

    def _enum(self, name: str, enum: Enum) -> str:
        values = []
        for each in enum.constants:
            doc = sentence(self.said_flat(each.doc))
            values.append(f"{self.doc(doc, '  ')}"
                          f"  {enum.rest(each)}(Native.{each.native})")
        values = ",\n".join(values)
        return (f"package runcible;\n\n{self.doc(self.said(enum.doc))}"
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
        return ("  /** Returns the value with a number of the library. */\n"
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
        lines = [f"{self.doc(self.said(status.doc))}"
                 f"{'' if inherited else 'final '}class {name} extends {base}"
                 + ("" if own else "\n    implements RuncibleException") + " {",
                 "  private static final long serialVersionUID = 1;"]
        if not own:
            lines.append("  private final transient Report report;")
        lines += ["", f"  {name}(String message, Report report) {{",
                  f"    super({given}{', report' if own else ''});",
                  *([] if own else ["    this.report = report;"]), "  }", "",
                  "  @Override", "  public int status() {",
                  f"    return Native.{status.native};", "  }"]
        if not own:
            lines += ["", "  @Override", "  public Optional<Report> report() {",
                      "    return Optional.ofNullable(report);", "  }"]
        return block([*lines, "}"])

    # ---- Options

    def _options(self, name: str, struct: Struct) -> str:
        uses = "import java.time.Duration;\n\n" if any(
            each.unit for each in members(self.api, struct)) else ""
        native = struct.native
        said = self.said(struct.doc)
        unset = "An option that is not set has the library's default. "
        doc = (f"{said}\n\n{unset * ('not set' not in said)}"
               "The setters return the object itself.")
        return (f"package runcible;\n\n{uses}{self.doc(doc)}"
                f"public final class {name} {{\n"
                f"  private final Settings<{native}> settings =\n"
                f"      new Settings<>({native}::new);\n\n"
                f"  /** Makes options that are not set. */\n  public {name}() {{}}\n\n"
                + re.sub(r"^(?=.)", "  ", self._setters(struct), flags=re.MULTILINE)
                + f"\n  {native} make() {{\n    return settings.make();\n  }}\n}}\n")

    def _setters(self, struct: Struct) -> str:
        name = pascal(words_of(struct.name))
        return "\n".join(self._setter(name, each)
                         for each in members(self.api, struct))

    def _setter(self, name: str, member: Member) -> str:
        own = camel(member.without_unit)
        setter = "set" + member.name[:1].upper() + member.name[1:]
        parameter, before, value = f"{self.type_of_member(member)} value", "", "value"
        if member.kind == "pair":
            parameter, value = "int down, int across", "down, across"
            setter = f"set_{member.name}"
        elif member.unit:
            kind, make = ("int", "intMilliseconds") if member.kind == "int32" else (
                "long", "milliseconds")
            before = f'  {kind} number = Limits.{make}(value, "{own}");\n'
            value = "number"
        elif member.enum is not None:
            before, value = "  int number = value.number();\n", "number"
        elif member.kind == "uint64" and member.name not in UNSIGNED:
            before = f'  Limits.notNegative(value, "{own}");\n'
        elif member.kind == "flag":
            value = "value ? 1 : 0"
        elif member.kind == "float":
            value = "(float) value"
        elif member.kind == "text":
            before = '  byte[] bytes = Text.name(value);\n'
            setter, value = f"set_{member.name}", "bytes"
        elif member.kind == "json":
            before = f'  byte[] bytes = Text.name(Json.text(value, "{own}"));\n'
            setter, value = f"set_{member.name}", "bytes"
        doc = self.said_of(member)
        if member.name in UNSIGNED:
            doc += " Read as an unsigned number."
        return (f"{self.doc(doc)}public {name} {own}({parameter}) {{\n{before}"
                f"  settings.add(options -> options.{setter}({value}));\n"
                "  return this;\n}\n")

    # ---- Reports

    def _report(self, name: str, struct: Struct) -> str:
        shown = members(self.api, struct)
        uses = [("java.time.Duration", any(self.type_of_member(each) == "Duration"
                                           for each in shown)),
                ("java.util.List", any(each.of for each in shown))]
        imports = "".join(f"import {each};\n" for each, used in uses if used)
        imports += "\n" if imports else ""
        doc = self._body(self.said(struct.doc), "") + " *\n"
        for each in shown:
            said = self.said_of(each)
            text = f"@param {self._name(each)} {said or 'its ' + each.name}"
            doc += self._parameter_doc(" * ", text)
        parameters = ",\n".join(f"    {self.type_of_member(each)} {self._name(each)}"
                                for each in shown)
        make = self._of_numbers if name == "Report" else self._of_report
        return (f"package runcible;\n\n{imports}/**\n{doc} */\n"
                f"public record {name}(\n{parameters}) {{\n"
                f"{make(name, struct, shown)}}}\n")

    def _name(self, member: Member) -> str:
        if self.converts(member):
            return camel(member.without_unit) + _TIME
        return camel(member.name)

    def _of_numbers(self, name, struct, shown) -> str:
        values = []
        for i, each in enumerate(shown):
            value = f"numbers[{i}]"
            if each.enum is not None:
                value = f"{self.type_of_member(each)}.of({value})"
            elif each.unit:
                value = _duration(each, value)
            values.append(f"        {value}")
        values = ",\n".join(values)
        return (f"  /** Makes a report of its numbers in their order. */\n"
                f"  static {name} of(long[] numbers) {{\n"
                f"    return new {name}(\n{values});\n  }}\n")

    def _of_report(self, name, struct, shown) -> str:
        lists = "".join(f", {self.type_of_member(each)} {each.name}"
                        for each in shown if each.of)
        values = ",\n".join(f"        {self._value(each)}" for each in shown)
        return (f"  static {name} of({struct.native} report{lists}) {{\n"
                f"    return new {name}(\n{values});\n  }}\n")

    def _value(self, member: Member) -> str:
        got = f"report.get{member.name[:1].upper()}{member.name[1:]}()"
        if member.of is not None:
            return member.name
        if member.enum is not None:
            return f"{self.type_of_member(member)}.of({got})"
        if member.kind == "text":
            return f"Text.decode({got})"
        if self.converts(member):
            return _duration(member, got)
        return f"{got} != 0" if member.kind == "flag" else got


def _duration(member: Member, number: str) -> str:
    """Converts a time in its unit to a Duration."""
    make = {"milliseconds": "Duration.ofMillis", "microseconds": "Limits.microseconds"}
    return f"{make[member.unit]}({number})"
