"""C#: partial classes of options, reports, enumerations, exceptions and ops."""

import re

from headers import Constant, Enum, Struct
from language import block, sentence
from members import (UNSIGNED, Member, constant_name, end_numbers, enum_words, members,
                     options, pascal, reports, shown_enums, words_of)
from languages.csharp_calls import Calls

# The exceptions of System with the same meaning; Exception for others.
_BASES = {
    "RC_E_INVALID_ARGUMENT": "ArgumentException",
    "RC_E_OUT_OF_MEMORY": "OutOfMemoryException",
    "RC_E_NOT_FOUND": "FileNotFoundException",
    "RC_E_IO": "IOException",
    "RC_E_FORMAT": "System.FormatException",
    "RC_E_UNSUPPORTED": "NotSupportedException",
    "RC_E_DEVICE_LOST": "DeviceException",
    "RC_E_DEVICE_MEMORY": "OutOfMemoryException",
    "RC_E_TIMEOUT": "TimeoutException",
    "RC_E_CANCELLED": "Exception",
    "RC_E_DEADLINE": "TimeoutException",
    "RC_E_CONTEXT_FULL": "InvalidOperationException",
    "RC_E_BUSY": "InvalidOperationException",
    "RC_E_CLOSED": "ObjectDisposedException",
}
# Exceptions whose constructor takes the message at another position.
_MESSAGES = {"RC_E_CLOSED": "null, message"}
# Options that are derived from others.
_FOLLOWS = {"distribution"}
# Options of windows, which have their defaults as values.
_NEVER_NULL = {"stride", "padding", "dilation", "groups"}
_MADE_BY_HAND = {"rc_generate_options", "rc_random_options"}
# Appended to times in reports, to distinguish them.
_TIME = "Time"


class Made(Calls):
    def files(self):
        made = {"GeneratedEnums.cs": self._file(
            [], [self._enum(enum) for enum in shown_enums(self.api)
                 if enum_words(self.api, enum) not in _FOLLOWS])}
        made["GeneratedErrors.cs"] = self._file(
            ["System", "System.IO"],
            [self._error(status) for status in self.api.statuses])
        made["GeneratedOptions.cs"] = self._file(
            ["System"], [self._options(struct) for struct in options(self.api)])
        made["GeneratedReports.cs"] = self._file(
            ["System", "System.Collections.Generic"],
            [self._report(struct) for struct in reports(self.api)])
        return made

    def parts(self):
        return {
            **super().parts(),
            "errors": lambda _: block(
                f"[native.{each.native}] =\n    (m, r, t) => "
                f"new {self.error_name(each)}(m, r, t)," for each in self.api.statuses),
            "end_numbers": lambda _: block(
                f"internal long {pascal(each)};" for each in end_numbers(self.api)),
        }

    def _file(self, using, declarations):
        uses = "".join(f"using {each};\n" for each in [*using, "Runcible.Native"])
        body = "\n".join(declarations)
        indented = re.sub(r"^(?=.)", "  ", body, flags=re.MULTILINE)
        return f"{uses}\nnamespace Runcible {{\n{indented}}}\n"

    def _enum(self, enum: Enum) -> str:
        lines = []
        for each in enum.constants:
            lines.append(self.summary(sentence(self.said_flat(each.doc)),
                                       "  "))
            lines.append(f"  {constant_name(enum, enum.rest(each))} = "
                         f"native.{each.native},\n")
        doc = self.said_flat(enum.doc)
        return (f"{self.summary(doc)}public enum "
                f"{pascal(enum_words(self.api, enum))} {{\n{''.join(lines)}}}\n")

    # ---- Errors

    def _error(self, status: Constant) -> str:
        name = self.error_name(status)
        base = _BASES.get(status.name, "Exception")
        derived = [each for each, of in _BASES.items() if of == name]
        inherits = any(self.error_name(each) == base for each in self.api.statuses)
        doc = self.summary(self.said_flat(status.doc))
        modifier = "" if derived else "sealed "
        overriding = "override " if inherits else "virtual " if derived else ""
        interface = "" if inherits else ", IRuncibleException"
        given = (_MESSAGES.get(status.name, "message")
                 + ", report, retryAfter" * inherits)
        lines = [
            f"{doc}public {modifier}class {name}",
            f"    : {base}{interface} {{",
            f"  internal {name}(",
            "      string message, Report report = null, TimeSpan? retryAfter = null)",
            f"      : base({given}) {{",
            *([] if inherits else ["    Report = report;",
                                   "    RetryAfter = retryAfter;"]),
            "  }",
            "",
            "  /// <summary>The number of the status.</summary>",
            f"  public {overriding}int Status => native.{status.native};",
        ]
        if not inherits:
            lines += ["",
                      "  /// <summary>The report of a generation that failed; "
                      "else null.</summary>",
                      "  public Report Report { get; }", "",
                      "  /// <summary>The time after which to try again; null if it is "
                      "not\n  /// known.</summary>",
                      "  public TimeSpan? RetryAfter { get; }"]
        return block([*lines, "}"])

    # ---- Options

    def _options(self, struct: Struct) -> str:
        shown = [each for each in members(self.api, struct)
                 if each.name not in _FOLLOWS]
        properties = "\n".join(self._property(each) for each in shown)
        settings = "".join(self._setting(each) for each in shown)
        said = self.said_flat(struct.doc)
        doc = (f"{said} A null member "
               + ("is not set." if "not set" in said else "has the library's default."))
        native = struct.native
        make = "" if struct.name in _MADE_BY_HAND else (
            f"\n  internal {native} Make() {{\n    var made = new {native}();\n"
            "    Set(made);\n    return made;\n  }\n")
        return (f"{self.summary(doc)}"
                f"public sealed partial class {pascal(words_of(struct.name))} {{\n"
                f"{properties}{make}\n"
                f"  private void Set({native} made) {{\n{settings}  }}\n}}\n")

    def _property(self, member: Member) -> str:
        name = pascal(member.without_unit)
        initial = ""
        kind = self.type_of_member(member)
        if member.kind not in ("text", "json"):  # a reference may be null anyway
            kind += "?"
        if member.name in _NEVER_NULL:
            kind = self.type_of_member(member)
            default = member.default.strip("{}")
            initial = f" = {f'new Pair({default})' if kind == 'Pair' else default};"
        return (f"{self.summary(self.said_of(member), '  ')}"
                f"  public {kind} {name} {{ get; set; }}{initial}\n")

    def _setting(self, member: Member) -> str:
        name = pascal(member.without_unit)
        if member.kind == "pair":
            return f"    made.set_{member.name}({name}.Down, {name}.Across);\n"
        if member.name in _NEVER_NULL:
            return f"    made.{member.name} = {name};\n"
        if member.kind in ("text", "json"):
            text = f"Memory.Name({name})"
            if member.kind == "json":
                text = f"\n          Memory.Name(Json.Text({name}, nameof({name})))"
            return (f"    if ({name} != null) {{\n"
                    f"      made.set_{member.name}({text});\n    }}\n")
        value = f"{name}.Value"
        if member.unit:
            make = "Int" * (member.kind == "int32") + "Milliseconds"
            value = f"\n          Limits.{make}({value}, nameof({name}))"
        elif member.kind == "uint64" and member.name not in UNSIGNED:
            value = f"\n          Limits.NotNegative({value}, nameof({name}))"
        elif member.kind == "flag":
            value += " ? 1 : 0"
        elif member.kind in ("enum", "float"):
            value = f"({'int' if member.enum else 'float'}){value}"
        return (f"    if ({name}.HasValue) {{\n"
                f"      made.{member.name} = {value};\n    }}\n".replace("= \n", "=\n"))

    # ---- Reports

    def _report(self, struct: Struct) -> str:
        shown = members(self.api, struct)
        of_event = struct.name == "rc_generate_report"
        copied = "".join(self._copied(each, of_event) for each in shown)
        properties = "\n".join(
            f"{self.summary(self.said_of(each), '  ')}"
            f"  public {self._report_type(each)} {self._report_name(each)} {{ get; }}\n"
            for each in shown)
        name = pascal(words_of(struct.name))
        lists = "".join(f", IReadOnlyList<{pascal(words_of(each.of.name))}> "
                        f"{each.name}" for each in shown if each.of)
        source = "Event.Raw" if of_event else struct.native
        return (f"{self.summary(self.said_flat(struct.doc))}"
                f"public sealed class {name} {{\n"
                f"  internal {name}({source} report{lists}) {{\n{copied}  }}\n\n"
                f"{properties}}}\n")

    def _report_type(self, member: Member) -> str:
        if member.of is not None:
            return f"IReadOnlyList<{pascal(words_of(member.of.name))}>"
        return self.type_of_member(member)

    def _report_name(self, member: Member) -> str:
        if self.converts(member):
            return pascal(member.without_unit) + _TIME
        return pascal(member.name)

    def _copied(self, member: Member, of_event: bool) -> str:
        """Returns the statement that copies a member from the library's report."""
        source = pascal(member.name) if of_event else member.name
        value = f"report.{source}"
        if member.of is not None:
            value = member.name
        elif member.enum is not None:
            value = f"({self.type_of_member(member)}){value}"
        elif self.converts(member):
            value = f"(long){value}" if member.kind == "uint64" else value
            make = {"milliseconds": "TimeSpan.FromMilliseconds",
                    "microseconds": "Limits.Microseconds"}
            value = f"{make[member.unit]}({value})"
        elif member.kind == "flag":
            value += " != 0"
        elif member.kind == "uint64" and member.name not in UNSIGNED:
            value = f"(long){value}"
        return f"    {self._report_name(member)} = {value};\n"
