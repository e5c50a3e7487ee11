"""C#: names, types and documentation."""

import html
import re

from language import Language
from members import UNSIGNED, Member, constant_name, enum_words, pascal

TYPES = {"int32": "int", "int64": "long", "uint32": "uint", "uint64": "long",
          "float": "double", "flag": "bool", "text": "string",
          "json": "object", "pair": "Pair"}


def _xml(text: str) -> str:
    """Escapes a text as XML, with names as code."""
    return re.sub(r"`([^`]+)`", r"<c>\1</c>", html.escape(text, quote=False))


class Words(Language):
    suffix = ".cs"
    mark = re.compile(r"^(?P<indent>[ \t]*)/// <summary>\{@rc (?P<names>[\w. ]+)\}"
                      r"</summary>\n", re.MULTILINE)
    unit = ""
    unconverted = frozenset({"compute_us"})  # a number for compatibility
    error_form = "{}Exception"
    # Other names would be those of System.
    error_words = {"RC_E_OUT_OF_MEMORY": "HostMemory", "RC_E_TIMEOUT": "WaitTimeout"}
    own_places = {"rc_discover": "Backend.Discover", "rc_model_plan": "Model.Plan",
                  "rc_model_verify": "Model.Verify",
                  "rc_error_retry_after_ms": "IRuncibleException.RetryAfter"}
    width = 78

    def value_name(self, enum, constant):
        name = constant_name(enum, enum.rest(constant))
        return f"{pascal(enum_words(self.api, enum))}.{name}"

    def method_words(self, words):
        return pascal(words)

    def enum_name(self, enum):
        return pascal(enum_words(self.api, enum))

    def member_name(self, member):
        return pascal(member.without_unit)

    def comment(self, found, text):
        paragraphs = re.split(r"\n\n+", _xml(text).strip())
        if len(paragraphs) > 1:
            paragraphs = [f"<para>{each}</para>" for each in paragraphs]
        summary = "\n\n".join(paragraphs)
        return self.filled(f"<summary>{summary}</summary>", "/// ", found["indent"])

    def summary(self, text: str, indent: str = "") -> str:
        if not text:
            return ""
        return self.lines(f"<summary>{_xml(text)}</summary>", "/// ", indent)

    def type_of_member(self, member: Member) -> str:
        if member.enum is not None:
            return pascal(enum_words(self.api, member.enum))
        if self.converts(member):
            return "TimeSpan"
        return "ulong" if member.name in UNSIGNED else TYPES[member.kind]
