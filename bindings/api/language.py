"""The common part of the languages: sources with marks, which become sources with
the comments and the declarations of the headers.

Each language has its own mark of a comment, see `mark`. A mark of a part is a
comment on a separate line, ":api: PART NAME", which the part replaces.
"""

import re
import sys
import textwrap
from pathlib import Path
from typing import Callable, Dict, FrozenSet, List, Set

from calls import Call, calls, makers
from comments import without_c
from headers import Api, Constant, Enum, Function, Struct
from members import (Member, enum_words, members, options, pascal, reports,
                     reporting_functions, shown_enums, text_of, words_of)
from places import filler_of, handles, place_of, taker_of
from tensors import op_doc, ops

_PART = re.compile(r"^(?P<indent>[ \t]*)(?://|/\*|#|--) :api: (?P<part>\w+)"
                   r"(?: (?P<name>\w+))?(?: \*/)?\n", re.MULTILINE)


class Language:
    suffix = ""  # of its sources
    mark = re.compile("")  # of a comment, with its names as `names`
    nothing = "null"  # the language's NULL
    yes, no = "true", "false"
    # The unit of times without one in their names; "" if times have a type.
    unit = "seconds"
    units = ("milliseconds", "microseconds")  # of times that are converted to it
    unconverted: FrozenSet[str] = frozenset()  # times that stay numbers
    # The class of a status, and its words if they are not the status's.
    error_form = "{}Error"
    error_words: Dict[str, str] = {}
    options_are_keywords = False  # there is no class of options
    reports_are_tables = False  # there is no class of reports
    # Names in comments: a method, a constructor, and a function of the package.
    method_form = "{}.{}"
    maker_form = "{}"
    function_form = "{}"
    own_places: Dict[str, str] = {}  # functions at other places
    # The comment of a struct belongs to each of its parts: no mark takes it whole.
    lists_members = False
    width = 80

    def __init__(self, api: Api) -> None:
        self.api = api
        self._by_hand: Set[str] = set()  # the words of the sources
        # Replacements for names that languages do not have.
        self.names = {"NULL": self.nothing, **api.numbers}
        self.names.update((each, pascal(words_of(each))) for each in api.structs)
        self.names.update((each.name, self.method_words(enum.rest(each).lower()))
                          for enum in api.enums for each in enum.constants)
        for function in api.functions.values():
            self.names[function.name] = self.function_name(function)
        for handle in handles(api):
            self.names["rc_" + handle] = pascal(handle)
        for status in api.statuses:
            self.names[status.name] = self.error_name(status)
        for enum in shown_enums(api):
            if enum.name:
                self.names[enum.name] = self.enum_name(enum)
            for constant in enum.constants:
                self.names[constant.name] = self.value_name(enum, constant)
        for struct in [*options(api), *reports(api)]:
            self.names[struct.name] = self.struct_name(struct)
        for struct in options(api):
            for member in members(api, struct):
                if "_" in member.name:
                    self.names[member.name] = self.member_name(member)

    # ---- Defined by each language.

    def error_name(self, status: Constant) -> str:
        """Returns the class of a status."""
        words = self.error_words.get(status.name, status_words(status))
        return self.error_form.format(words)

    def enum_name(self, enum: Enum) -> str:
        """Returns the type of an enumeration, or its name if values are texts."""
        return enum_words(self.api, enum)

    def value_name(self, enum: Enum, constant: Constant) -> str:
        """Returns a value of an enumeration."""
        return f'"{text_of(self.api, enum, constant)}"'

    def member_name(self, member: Member) -> str:
        """Returns the name of a member of options."""
        return member.without_unit

    def struct_name(self, struct: Struct) -> str:
        """Returns the class of options or of a report, or the function that uses it."""
        if struct.is_options and self.options_are_keywords:
            taker = taker_of(self.api, struct)
            return "the options" + (f" of {self.function_name(taker)}" if taker else "")
        if struct.is_report and self.reports_are_tables:
            filler = filler_of(self.api, struct)
            return self.function_name(filler) if filler else "the report"
        return pascal(words_of(struct.name))

    def method_words(self, words: str) -> str:
        """Returns the name of a method or function."""
        return words

    def function_name(self, function: Function) -> str:
        """Returns a function's name in a comment, "Session.truncate"."""
        owner, words = place_of(self.api, function)
        if function.name in self.own_places:
            return self.own_places[function.name]
        if not owner:
            return self.function_form.format(self.method_words(words))
        if not words:
            return self.maker_form.format(pascal(owner))
        return self.method_form.format(pascal(owner), self.method_words(words))

    def read(self, sources: List[str]) -> None:
        """Receives all hand-written sources before they are completed."""
        self._by_hand = {word.lower() for source in sources
                         for word in re.findall(r"\w+", source)}

    def shared(self) -> Dict[str, str]:
        """Returns hand-written sources that several packages share."""
        return {}

    def files(self) -> Dict[str, str]:
        """Returns sources that are generated completely; a hand-written one stays."""
        return {}

    def parts(self) -> Dict[str, Callable[[str], str]]:
        """Returns functions that make a part from the name in its mark, or ""."""
        return {
            "ops": lambda _: "\n".join(self.op(each) for each in ops(self.api)),
            "methods": lambda handle: "\n".join([
                *(self.report_member(handle, each)
                  for each in reporting_functions(self.api, handle)),
                *self.plain_calls(handle)]),
            "makers": lambda _: "\n".join(self.plain_makers()),
        }

    def op(self, function: Function) -> str:
        """Returns the method of a tensor that is an op."""
        raise NotImplementedError

    def report_member(self, handle: str, function: Function) -> str:
        """Returns the member for a report about a handle, which a function fills."""
        raise NotImplementedError

    def plain(self, handle: str, call: Call) -> str:
        """Returns the method of a handle that is a plain function."""
        raise NotImplementedError

    def maker(self, call: Call) -> str:
        """Returns the function that makes a tensor."""
        raise NotImplementedError

    def comment(self, found: "re.Match[str]", text: str) -> str:
        """Returns the replacement of a mark of a comment."""
        raise NotImplementedError

    # ---- Common to all.

    def said(self, comment: str) -> str:
        """Returns a comment of the headers with the names of the language."""
        text = without_c(comment)
        if self.options_are_keywords:  # a member of options is itself an option
            text = re.sub(r"\brc_\w+_options\.(\w+)", r"\1", text)
        text = re.sub(r"(`\w+`) is (1|non-zero)\b", rf"\1 is {self.yes}", text)
        return re.sub(r"\w+", lambda word: self.names.get(word.group(), word.group()),
                      text)

    def said_flat(self, comment: str) -> str:
        """Returns the same in one line."""
        return " ".join(self.said(comment).split())

    def said_of_op(self, function: Function) -> str:
        return sentence(self.said_flat(op_doc(self.api, function)))

    def said_of(self, member: Member) -> str:
        """Returns the comment of a member: a sentence in one line."""
        text = self.said_flat(member.doc)
        if member.kind == "flag":
            text = re.sub(r"^1(: |, )", "", text)
            text = re.sub(r"(?<![-\w])([01]):", lambda found: (
                self.yes if found[1] == "1" else self.no) + ":", text)
            text = re.sub(r"\bDefault: ([01])\b", lambda found: "Default: " + (
                self.yes if found[1] == "1" else self.no), text)
        if self.converts(member):
            unit = f"{self.unit}, " if self.unit else ""
            text = re.sub(rf"([;,] ){member.unit}, ", rf"\1{unit}", text)
            text = re.sub(rf", {member.unit}$", unit and f", {self.unit}", text)
        return sentence(text)

    def plain_calls(self, handle: str) -> List[str]:
        """Returns the plain functions of a handle that no source calls."""
        return [self.plain(handle, each) for each in calls(self.api, handle)
                if each.native not in self._by_hand]

    def plain_makers(self) -> List[str]:
        """Returns the same for the makers of tensors."""
        return [self.maker(each) for each in makers(self.api)
                if each.native not in self._by_hand]

    def converts(self, member: Member) -> bool:
        """Returns whether a time is converted to the unit of the language."""
        return member.unit in self.units and member.name not in self.unconverted

    def lines(self, text: str, begin: str, indent: str = "") -> str:
        """Formats a text as lines of a comment."""
        filled = textwrap.wrap(text, self.width - len(indent + begin),
                               break_long_words=False, break_on_hyphens=False)
        return "".join(f"{indent}{begin}{line}".rstrip() + "\n" for line in filled)

    def call(self, head: str, arguments: List[str], tail: str) -> str:
        """Formats a call, or the head of a method; the arguments go on lines below
        if they do not fit on one line."""
        line = f"{head}({', '.join(arguments)}){tail}"
        if len(line) <= self.width:
            return line
        indent = line[:len(line) - len(line.lstrip())] + "    "
        # Arguments are not split.
        parts = ", ".join(each.replace(" ", "\0") for each in arguments)
        filled = textwrap.wrap(parts, self.width - len(indent),
                               break_long_words=False, break_on_hyphens=False)
        below = f"\n{indent}".join(filled).replace("\0", " ")
        return f"{head}(\n{indent}{below}){tail}"

    def filled(self, text: str, begin: str, indent: str = "") -> str:
        """Formats a text of several paragraphs as lines of a comment; lists and
        indented paragraphs keep their lines."""
        made = []
        for paragraph in re.split(r"\n\n+", text.strip()):
            if re.search(r"^([ \t]+|- )", paragraph, re.MULTILINE):
                made.append("".join(f"{indent}{begin}{line}".rstrip() + "\n"
                                    for line in paragraph.split("\n")))
            else:
                made.append(self.lines(" ".join(paragraph.split()), begin, indent))
        return (f"{indent}{begin}".rstrip() + "\n").join(made)

    def comment_of(self, name: str) -> str:
        if self.lists_members and name in self.api.structs:
            return ""
        if name not in self.api.comments:
            sys.exit(f"the headers have no comment of {name}")
        return self.api.comments[name]

    def struct(self, name: str) -> Struct:
        if name not in self.api.structs:
            sys.exit(f"the headers have no struct {name}")
        return self.api.structs[name]

    def written(self, source: str) -> str:
        """Returns a source with its marks replaced."""
        parts = self.parts()

        def part(found: "re.Match[str]") -> str:
            if found["part"] not in parts:
                sys.exit(f"there is no part {found['part']}, but {', '.join(parts)}")
            self.width -= len(found["indent"])
            made = parts[found["part"]](found["name"] or "")
            self.width += len(found["indent"])
            return textwrap.indent(made, found["indent"])

        return self.mark.sub(self._comment, _PART.sub(part, source))

    def _comment(self, found: "re.Match[str]") -> str:
        texts = [self.said(self.comment_of(name)) for name in found["names"].split()]
        return self.comment(found, "\n\n".join(texts))


def sentence(text: str) -> str:
    """Adds a capital, if the text begins with a word, and a full stop."""
    if not text:
        return ""
    if re.match(r"[a-z]{2,}\b(?![(.])", text):
        text = text[0].upper() + text[1:]
    return text if text[-1] in ".!?" else text + "."


def status_words(status: Constant) -> str:
    """Returns the words of a status: RC_E_NOT_FOUND is NotFound."""
    return pascal(status.name[len("RC_E_"):])


def block(lines: List[str]) -> str:
    return "\n".join(lines) + "\n"


def write(language: Language, source: Path, output: Path) -> None:
    """Writes the sources of a package: the hand-written ones with their marks
    replaced, and those that are generated."""
    by_hand = language.shared()
    by_hand.update((str(path.relative_to(source)), path.read_text(encoding="utf-8"))
                   for path in sorted(source.rglob("*" + language.suffix))
                   if path.is_file())
    language.read(list(by_hand.values()))
    made = language.files()
    made.update((name, language.written(text)) for name, text in by_hand.items())
    for name, text in made.items():
        to = output / name
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text, encoding="utf-8")
