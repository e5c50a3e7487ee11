"""TypeScript for pages: like Node's, but the library is in a worker, and the package
contains what SWIG provides elsewhere: the layouts of structs, and constants."""

from calls import Call
from headers import Constant, Field, Struct
from language import block
from languages import node
from members import (camel, choices, end_numbers, kinds, options, pascal, report_of,
                     text_of, times, truths, words_of)

# Structs that the package fills or reads, besides options and reports.
_STRUCTS = {"rc_event"}
# Constants of C that the worker uses.
_CONSTANTS = ("RC_EVENT_", "RC_TOKENIZE_", "RC_DECODE_", "RC_GRAMMAR_", "RC_POOLING_",
              "RC_END_")
_WIDE = {"int64_t": "int64", "uint64_t": "uint64"}
_NARROW = {"size_t": "size", "uint32_t": "uint32", "float": "float"}


def _kind(field: Field) -> str:
    if field.ctype == "const char*":
        return "text"
    if "*" in field.ctype or field.ctype.endswith("_callback"):
        return "pointer"
    return {**_WIDE, **_NARROW}.get(field.ctype, "int32")


class Made(node.Made):
    own_places = {**node.Made.own_places, "rc_model_fetch": "Model.load",
                  "rc_cached_model_remove": "removeCachedModel"}

    def __init__(self, api):
        # Pages do not compute tensors, and belong to one party.
        for name in ("rc_custom_op_options", "rc_tenant_options",
                     "rc_tenant_usage_report"):
            api.structs.pop(name, None)
        super().__init__(api)

    def files(self):
        return {"members.ts": self._members(), "layouts.ts": self._layouts()}

    # ---- Tables that the package needs at run time

    def _members(self) -> str:
        """Returns the tables of the page: kinds of members, and values by name."""
        structs = [each for each in self.api.structs.values() if each.is_options]
        lines = ["/** Types of the members of options. */", "",
                 "export type Kind =", "  | \"int32\" | \"uint32\" | \"int64\" | \"uint64\"",
                 "  | \"size\" | \"float\" | \"text\" | \"pointer\";", "",
                 "/** The members of each struct of options. */",
                 "export const members: Readonly<",
                 "  Record<string, Readonly<Record<string, Kind>>>", "> = {"]
        for struct in structs:
            lines.append(f"  {struct.native}: {{")
            lines += [f'    {each.name}: "{_kind(each)}",' for each in struct.fields
                      if each.name != "struct_size"
                      and not each.name.startswith("reserved") and not each.array]
            lines.append("  },")
        lines += ["};", "", "/** Options that are times: their members in C. */",
                  "export const times: Readonly<Record<string, string>> = {",
                  *(f'  {camel(name)}: "{member}",'
                    for name, member in times(self.api).items()), "};", "",
                  "/** Options that are given by name. */",
                  "export const choices: Readonly<",
                  "  Record<string, Readonly<Record<string, number>>>", "> = {"]
        for name, enum in choices(self.api).items():
            lines.append(f"  {camel(name)}: {{")
            lines += [f'    "{text_of(self.api, enum, each)}": {each.value},'
                      for each in enum.constants]
            lines.append("  },")
        names = [field.name for struct in options(self.api) for field in struct.fields
                 if field.ctype not in ("size_t", "uint32_t", "void*")
                 and not field.ctype.endswith("_callback")
                 and not field.name.endswith(("_ms", "_us"))]
        lines += ["};", "", *self.json_names(),
                  "/** Names of options in messages of the library. */",
                  "export const optionNames: ReadonlySet<string> = new Set([",
                  *(f'  "{each}",' for each in dict.fromkeys(names)), "]);", "",
                  "/** Names of statuses. */",
                  "export const statusNames: Readonly<Record<number, string>> = {",
                  *(f'  [{each.value}]: "{each.name[len("RC_E_"):]}",' for each in self.api.statuses),
                  "};", "", *self._constants()]
        return block(lines)

    def _constants(self):
        yield "/** Constants of the library. */"
        yield "export const rc = {"
        for enum in self.api.enums:
            for each in enum.constants:
                if each.name.startswith(_CONSTANTS):
                    yield f"  {each.native}: {each.value},"
        yield "} as const;"

    def _layouts(self) -> str:
        """Returns the tables of the worker: layouts of structs with 32-bit pointers."""
        structs = [each for name, each in self.api.structs.items()
                   if each.is_options or each.is_report or name in _STRUCTS]
        lines = ["/** Layouts of structs in memory. */",
                 'import type { Kind } from "./members.js";', "",
                 "export interface Layout {", "  readonly size: number;",
                 "  readonly members: Readonly<Record<string, readonly [number, Kind]>>;",
                 "}", "",
                 "export const layouts: Readonly<Record<string, Layout>> = {"]
        for struct in structs:
            lines += self._layout(struct)
        reasons = self.api.enum("rc_end_reason")
        lines += ["};", "", "/** Members of reports that are true or false. */",
                  "export const flags: ReadonlySet<string> = new Set([",
                  *(f'  "{camel(each)}",' for each in truths(self.api)), "]);", "",
                  "/** The numbers of a generation's report, in their order. */",
                  "export const endNumbers: readonly string[] = [",
                  *(f'  "{each}",' for each in end_numbers(self.api)), "];", "",
                  "/** Reasons why generations end, by their numbers. */",
                  "export const endReasons: readonly string[] = [",
                  *(f'  "{text_of(self.api, reasons, each)}",'
                    for each in reasons.constants), "];", "",
                  "/** Kinds of devices, by their numbers. */",
                  "export const kinds: ReadonlyMap<number, string> = new Map([",
                  *(f'  [{each.value}, "{text}"],'
                    for each, text in kinds(self.api).items()), "]);"]
        return block(lines)

    def _layout(self, struct: Struct):
        yield f"  {struct.native}: {{"
        yield "    members: {"
        at = 0
        for field in struct.fields:
            size = 8 if field.ctype in _WIDE else 4
            at = (at + size - 1) // size * size
            yield f'      {field.name}: [{at}, "{_kind(field)}"],'
            at += size * max(1, field.array)
        widest = max(8 if each.ctype in _WIDE else 4 for each in struct.fields)
        yield "    },"
        yield f"    size: {(at + widest - 1) // widest * widest},"
        yield "  },"

    # ---- Methods

    def report_member(self, handle: str, function) -> str:
        struct = report_of(self.api, function)
        kind = pascal(words_of(struct.name))
        name = camel(self._report_words(handle, function))
        return (f"{self._doc(self.said(struct.doc))}"
                f"{name}(): Promise<reports.{kind}> {{\n"
                f'  return this._ask("report", "{function.name}", '
                f'"{struct.native}");\n}}\n')

    @staticmethod
    def _report_words(handle: str, function) -> str:
        name = function.name[len(handle) + 1:]
        return "report" if name == "describe" else name

    def plain(self, handle: str, call: Call) -> str:
        # A page has neither paths nor tensors.
        if call.of_kind("path") or any(each.of == "rc_tensor"
                                       for each in call.of_kind("handle")):
            return ""
        kind, name = pascal(words_of(handle)), camel(call.words)
        gives = kind if call.gives == "handle" else node._GIVEN[call.gives]
        parameters = ", ".join(node._taken(each) for each in call.inputs)
        given = "".join(self._passed(each) for each in call.inputs)
        doc = self._doc(self.said(call.function.doc))
        if call.moves:
            model = call.inputs[0].name
            return block([
                f"{doc}async {name}({parameters}): Promise<void> {{",
                f'  await this._ask("plain", "{call.function.name}", ""{given});',
                f"  this.#model = {model};", "}"])
        if call.gives != "handle":
            return block([
                f"{doc}{name}({parameters}): Promise<{gives}> {{",
                f'  return this._ask("plain", "{call.function.name}", '
                f'"{call.gives}"{given});', "}"])
        others = [each.name for each in call.of_kind("handle")]
        owner = others[0] if others else "this.model"
        return block([
            f"{doc}async {name}({parameters}): Promise<{gives}> {{",
            f'  const id = this._engine.newHandle();',
            f'  await this._ask("child", "{call.function.name}", id{given});',
            f"  return new {kind}(this._engine, id, {owner});", "}"])

    @staticmethod
    def _passed(taken) -> str:
        name = camel(taken.name)
        if taken.kind == "handle":
            return (f', {{ handle: need({name}, "{pascal(words_of(taken.of))}", '
                    f'"{name}") }}')
        return f", {name}"
