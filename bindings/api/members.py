"""The meaning of members and arguments for a language: the rules of types, names and
units.

Types. An int32_t whose comment begins with "1:", or "1, with something:", is true or
false, and so is one whose comment begins with "0:" and whose default is 1. One whose
comment names constants, "RC_FULL_ERROR or RC_FULL_SHIFT", is of their enumeration. A
text whose comment contains "as JSON" may be an object if a language has objects. A
member "device_count" with a function rc_plan_device that returns the i-th stands for
the list of those reports.

Names. They are without "rc_", as the language writes them; NAMES lists reports with
another name. A time has its unit at the end of its name only in C: deadline_ms is
`deadline` in a language that has a type or a usual unit of times.
"""

import re
from dataclasses import dataclass
from typing import Dict, Iterable, List, Optional

from headers import INTEGERS, Api, Constant, Enum, Field, Function, Struct
from tensors import ops

# Names of structs that differ in the packages, for compatibility.
NAMES = {
    "rc_backend_usage_report": "usage",
    "rc_tenant_usage_report": "tenant_usage",
    "rc_plan_report": "plan",
    "rc_plan_device_report": "device_plan",
    "rc_plan_offer_report": "plan_offer",
    "rc_generate_report": "report",
}
# Structs that the packages expose in another way: arrays of a file's tensors, prompts
# of conversations and their options, most of which are JSON; and those of embeddings,
# scores, fetching and runs of graphs, which are plain arguments.
_NOT_SHOWN = {"rc_tensor_report", "rc_chat_options", "rc_chat_prompt_report",
              "rc_chat_content_report", "rc_embed_options", "rc_fetch_options",
              "rc_quantize_options", "rc_rerank_options", "rc_graph_run_options"}

# Numbers that may use all 64 bits.
UNSIGNED = {"seed"}

_UNITS = {"_ms": "milliseconds", "_us": "microseconds"}


def words_of(name: str) -> str:
    """Returns the name of a struct, function or type in words, "model_options"."""
    return NAMES.get(name, name[len("rc_"):] if name.startswith("rc_") else name)


def pascal(words: str) -> str:
    """Returns a name in Pascal case: top_k is TopK."""
    return "".join(word[:1].upper() + word[1:].lower() for word in words.split("_"))


def camel(words: str) -> str:
    """Returns a name in camel case: top_k is topK."""
    name = pascal(words)
    return name[:1].lower() + name[1:]


def constant_name(enum: Enum, rest: str) -> str:
    """Returns a constant's name: STOP_STRING is StopString, and Q4_K stays."""
    return rest if any(character.isdigit() for character in rest) else pascal(rest)


@dataclass(frozen=True)
class Member:
    """A member of a struct as a language exposes it."""

    name: str  # in C
    kind: str  # "flag", "enum", "float", "text", "json", "pair", "list", "int32", ...
    doc: str
    default: str = ""
    unit: str = ""  # of a time: "milliseconds" or "microseconds"
    enum: Optional[Enum] = None
    of: Optional[Struct] = None  # the report of which it is a list

    @property
    def without_unit(self) -> str:
        return self.name[:-len("_ms")] if self.unit else self.name

    @property
    def is_zero(self) -> bool:
        """Returns whether 0 is the default."""
        return re.fullmatch(r"0(\.0f)?|NULL", self.default) is not None or (
            self.enum is not None and any(
                each.name == self.default and each.value == 0
                for each in self.enum.constants))


def _enum_of(api: Api, field: Field) -> Optional[Enum]:
    if api.enum(field.ctype) is not None:
        return api.enum(field.ctype)
    named = re.match(r"RC_[A-Z]+_", field.doc)
    return api.enum_of_prefix(named.group()) if named else None


def _member(api: Api, struct: Struct, field: Field) -> Optional[Member]:
    """Returns None for a field that languages do not expose."""
    def made(kind: str, **more) -> Member:
        return Member(field.name, kind, field.doc, field.default, **more)

    if (field.name == "struct_size" or field.name.startswith("reserved")
            or field.ctype == "rc_status"):
        return None
    if field.ctype == "const char*" and not struct.field(field.name + "_length"):
        return made("json" if re.search(r"\bas\s+JSON\b(?!\s+Lines)", field.doc) else "text")
    if field.array == 2 and field.ctype == "int32_t":
        return made("pair")
    if field.ctype == "float":
        return made("float")
    if "*" in field.ctype or field.array or field.ctype == "size_t":
        return None
    enum = _enum_of(api, field)
    if enum is not None:
        return made("enum", enum=enum) if field.ctype != "uint32_t" else None
    if field.ctype not in INTEGERS:
        return None
    listed = _listed(api, struct, field)
    if listed is not None:
        return Member(field.name[:-len("_count")] + "s", "list", listed.doc, of=listed)
    unit = _UNITS.get(field.name[-3:], "")
    if field.ctype == "int32_t" and (
            re.match(r"1(, [^:.]*)?:", field.doc)
            or field.doc.startswith("0:") and field.default == "1"):
        return made("flag")
    return made(INTEGERS[field.ctype], unit=unit)


def _listed(api: Api, struct: Struct, field: Field) -> Optional[Struct]:
    """Returns the report of the list whose length a member of a report is."""
    if not struct.is_report or not field.name.endswith("_count"):
        return None
    owner = struct.name[:-len("_report")]
    function = api.functions.get(f"{owner}_{field.name[:-len('_count')]}")
    return report_of(api, function) if function else None


def members(api: Api, struct: Struct) -> List[Member]:
    """Returns the members that languages expose, lists last."""
    known = [_member(api, struct, field) for field in struct.fields]
    shown = [each for each in known if each is not None]
    return sorted(shown, key=lambda each: each.kind == "list")


def report_of(api: Api, function: Function) -> Optional[Struct]:
    """Returns the report that a function fills."""
    last = function.parameters[-1].ctype if function.parameters else ""
    struct = api.structs.get(last.rstrip("*"))
    return struct if struct is not None and struct.is_report else None


def reporting_functions(api: Api, handle: str) -> List[Function]:
    """Returns the functions that fill a report about a handle, "rc_model"."""
    return [each for each in api.functions.values()
            if len(each.parameters) == 2 and report_of(api, each) in reports(api)
            and each.parameters[0].ctype.replace("const ", "") == handle + "*"]


def report_words(handle: str, function: Function) -> str:
    """Names a report: `report` for rc_model_describe, `usage` for rc_backend_usage."""
    name = function.name[len(handle) + 1:]
    return "report" if name == "describe" else name


def reports(api: Api) -> List[Struct]:
    """Returns the reports that the packages expose."""
    return [each for each in api.structs.values()
            if each.is_report and each.name not in _NOT_SHOWN]


def options(api: Api) -> List[Struct]:
    return [each for each in api.structs.values()
            if each.is_options and each.name not in _NOT_SHOWN]


def shown_enums(api: Api) -> List[Enum]:
    """Returns the enumerations of members of options and reports and of ops."""
    used = {each.enum.prefix for struct in [*options(api), *reports(api)]
            for each in members(api, struct) if each.enum}
    for function in ops(api):
        for parameter in function.parameters:
            enum = api.enum(parameter.ctype)
            if enum is not None:
                used.add(enum.prefix)
    return [each for each in api.enums if each.prefix in used]


def enum_words(api: Api, enum: Enum) -> str:
    """Returns the name of an enumeration; without a type, that of the option."""
    if enum.name:
        return words_of(enum.name)
    return next(each.name for struct in options(api)
                for each in members(api, struct) if each.enum is enum)


def end_numbers(api: Api) -> List[str]:
    """Returns the numbers of a generation's report, after `reason` and `seed`."""
    struct = api.structs.get("rc_generate_report")
    return [each.name for each in (members(api, struct) if struct else [])
            if each.name not in ("reason", "seed")]


# ---- Tables of members that packages need at run time ----------------------


def times(api: Api) -> Dict[str, str]:
    """Returns options that are times: their names in C."""
    return {each.without_unit: each.name for struct in options(api)
            for each in members(api, struct) if each.unit}


def pairs(api: Api) -> List[str]:
    """Returns options that are two numbers, vertical and horizontal."""
    return [each.name for struct in options(api)
            for each in members(api, struct) if each.kind == "pair"]


def jsons(api: Api) -> List[str]:
    """Returns options that are JSON."""
    return [each.name for struct in options(api)
            for each in members(api, struct) if each.kind == "json"]


def choices(api: Api) -> Dict[str, Enum]:
    """Returns options that are of an enumeration."""
    return {each.name: each.enum for struct in options(api)
            for each in members(api, struct) if each.enum is not None}


def _flags(api: Api, structs: Iterable[Struct]) -> List[str]:
    found = [each.name for struct in structs
             for each in members(api, struct) if each.kind == "flag"]
    return list(dict.fromkeys(found))


def truths(api: Api) -> List[str]:
    """Returns members of reports that are true or false."""
    return _flags(api, reports(api))


def flags(api: Api) -> List[str]:
    """Returns members of options and reports that are true or false."""
    return _flags(api, [*options(api), *reports(api)])


def kinds(api: Api) -> Dict[Constant, str]:
    """Returns the kinds of devices as text."""
    enum = api.enum("rc_device_kind")
    return {each: text_of(api, enum, each) for each in (enum.constants if enum else [])}


# ---- Values as text ---------------------------------------------------------

_TEXTS = {"RC_DEVICE_GPU_DISCRETE": "discrete GPU",
          "RC_DEVICE_GPU_INTEGRATED": "integrated GPU"}


def text_of(api: Api, enum: Enum, constant) -> str:
    """Returns the text of a value: "q4_k", or the text of C if it has one, "stop
    string"."""
    text = _TEXTS.get(constant.name, enum.rest(constant).lower())
    return text.replace("_", " ") if enum.name + "_name" in api.functions else text
