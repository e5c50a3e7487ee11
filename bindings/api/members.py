"""What members and arguments mean to a language: the rules of types, names and
units, said once.

Types. An int32_t whose comment begins with "1:", or "1, with something:", is yes
or no, and so is one whose comment begins with "0:" and that is 1 by default. One
whose comment names constants, "RC_FULL_ERROR or RC_FULL_SHIFT", is of their
enumeration. A text whose comment says "as JSON" may be an object where a language
has such. A member "device_count" with a function rc_plan_device that gives the
i-th stands for the list of those reports.

Names. Without "rc_", as the language writes them; a report that is not known by
its own name is in NAMES. A time has its unit at the end of its name in C only:
deadline_ms is `deadline` where a language has a type or a usual unit of times.
"""

import re
from dataclasses import dataclass
from typing import Dict, List, Optional

from headers import INTEGERS, Api, Constant, Enum, Field, Function, Struct
from tensors import ops

# Of structs that have had another name in the packages from the beginning.
NAMES = {
    "rc_backend_usage_report": "usage",
    "rc_plan_report": "plan",
    "rc_plan_device_report": "device_plan",
    "rc_plan_offer_report": "plan_offer",
    "rc_generate_report": "report",
}
# What the packages give out in another way: arrays of a file's tensors, prompts of
# conversations, and their options, most of which are JSON; those of embeddings,
# scores, fetching and runs of graphs, which are plain arguments.
_NOT_SHOWN = {"rc_tensor_report", "rc_chat_options", "rc_chat_prompt_report",
              "rc_chat_content_report", "rc_embed_options", "rc_fetch_options",
              "rc_quantize_options", "rc_rerank_options", "rc_graph_run_options"}

# Numbers that may have all 64 bits.
UNSIGNED = {"seed"}

_UNITS = {"_ms": "milliseconds", "_us": "microseconds"}


def words_of(name: str) -> str:
    """The name of a struct, function or type in words, "model_options"."""
    return NAMES.get(name, name[len("rc_"):] if name.startswith("rc_") else name)


def pascal(words: str) -> str:
    """top_k is TopK."""
    return "".join(word[:1].upper() + word[1:].lower() for word in words.split("_"))


def camel(words: str) -> str:
    """top_k is topK."""
    name = pascal(words)
    return name[:1].lower() + name[1:]


def constant_name(enum: Enum, rest: str) -> str:
    """STOP_STRING is StopString, and Q4_K stays."""
    return rest if any(character.isdigit() for character in rest) else pascal(rest)


@dataclass(frozen=True)
class Member:
    """A member of a struct as a language shows it."""

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
        """Whether 0 is the default."""
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
    """None for what is no member to a language."""
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
    """The report of which a member of a report is the number."""
    if not struct.is_report or not field.name.endswith("_count"):
        return None
    owner = struct.name[:-len("_report")]
    function = api.functions.get(f"{owner}_{field.name[:-len('_count')]}")
    return report_of(api, function) if function else None


def members(api: Api, struct: Struct) -> List[Member]:
    """The members that languages show, lists last."""
    known = [_member(api, struct, field) for field in struct.fields]
    shown = [each for each in known if each is not None]
    return sorted(shown, key=lambda each: each.kind == "list")


def report_of(api: Api, function: Function) -> Optional[Struct]:
    """The report that a function fills."""
    last = function.parameters[-1].ctype if function.parameters else ""
    struct = api.structs.get(last.rstrip("*"))
    return struct if struct is not None and struct.is_report else None


def told_by(api: Api, handle: str) -> List[Function]:
    """The functions that fill a report about a handle, "rc_model"."""
    return [each for each in api.functions.values()
            if len(each.parameters) == 2 and report_of(api, each) in reports(api)
            and each.parameters[0].ctype.replace("const ", "") == handle + "*"]


def told_words(handle: str, function: Function) -> str:
    """rc_model_describe tells the `report`, rc_backend_usage the `usage`."""
    name = function.name[len(handle) + 1:]
    return "report" if name == "describe" else name


def reports(api: Api) -> List[Struct]:
    """Those that the packages show."""
    return [each for each in api.structs.values()
            if each.is_report and each.name not in _NOT_SHOWN]


def options(api: Api) -> List[Struct]:
    return [each for each in api.structs.values()
            if each.is_options and each.name not in _NOT_SHOWN]


def shown_enums(api: Api) -> List[Enum]:
    """Those of the members of options and reports and of the arguments of ops."""
    used = {each.enum.prefix for struct in [*options(api), *reports(api)]
            for each in members(api, struct) if each.enum}
    for function in ops(api):
        for parameter in function.parameters:
            enum = api.enum(parameter.ctype)
            if enum is not None:
                used.add(enum.prefix)
    return [each for each in api.enums if each.prefix in used]


def enum_words(api: Api, enum: Enum) -> str:
    """The name of an enumeration; one without a type has that of the option."""
    if enum.name:
        return words_of(enum.name)
    return next(each.name for struct in options(api)
                for each in members(api, struct) if each.enum is enum)


def end_numbers(api: Api) -> List[str]:
    """The numbers of how a generation ended, behind `reason` and `seed`."""
    struct = api.structs.get("rc_generate_report")
    return [each.name for each in (members(api, struct) if struct else [])
            if each.name not in ("reason", "seed")]


# ---- What packages have to know of members when they run -------------------


def times(api: Api) -> Dict[str, str]:
    """Options that are times: their names in C."""
    return {each.without_unit: each.name for struct in options(api)
            for each in members(api, struct) if each.unit}


def pairs(api: Api) -> List[str]:
    """Options that are two numbers, down and across."""
    return [each.name for struct in options(api)
            for each in members(api, struct) if each.kind == "pair"]


def jsons(api: Api) -> List[str]:
    """Options that are JSON."""
    return [each.name for struct in options(api)
            for each in members(api, struct) if each.kind == "json"]


def choices(api: Api) -> Dict[str, Enum]:
    """Options that are of an enumeration."""
    return {each.name: each.enum for struct in options(api)
            for each in members(api, struct) if each.enum is not None}


def truths(api: Api) -> List[str]:
    """Members of reports that are yes or no."""
    found = [each.name for struct in reports(api)
             for each in members(api, struct) if each.kind == "flag"]
    return list(dict.fromkeys(found))


def kinds(api: Api) -> Dict[Constant, str]:
    """What devices are, as text."""
    enum = api.enum("rc_device_kind")
    return {each: text_of(api, enum, each) for each in (enum.constants if enum else [])}


# ---- Values as text ---------------------------------------------------------

_TEXTS = {"RC_DEVICE_GPU_DISCRETE": "discrete GPU",
          "RC_DEVICE_GPU_INTEGRATED": "integrated GPU"}


def text_of(api: Api, enum: Enum, constant) -> str:
    """Where values are texts: "q4_k", and as C says it where it does, "stop
    string"."""
    text = _TEXTS.get(constant.name, enum.rest(constant).lower())
    return text.replace("_", " ") if enum.name + "_name" in api.functions else text
