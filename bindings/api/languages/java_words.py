"""Java: names, types and Javadoc."""

import html
import re

from language import Language
from members import Member, camel, enum_words, pascal, words_of

TYPES = {"int32": "int", "int64": "long", "uint32": "int", "uint64": "long",
          "float": "double", "flag": "boolean", "text": "String",
          "json": "Object", "pair": "int"}


class Words(Language):
    suffix = ".java"
    mark = re.compile(
        r"^(?P<indent>[ \t]*)(?P<begin>/\*\*| \*| \* @param \w+) "
        r"\{@rc (?P<names>[\w. ]+)\}(?P<end> \*/)?\n", re.MULTILINE)
    unit = ""
    unconverted = frozenset({"compute_us"})  # a number for compatibility
    error_form = "RuncibleException.{}"
    own_places = {
        "rc_backend_open": "Backend.open", "rc_backend_switch": "Backend.switchTo",
        "rc_model_load": "Model.load",
        "rc_model_info_open": "Model.load", "rc_tokenizer_open": "Tokenizer.open",
        "rc_discover": "Backend.discover", "rc_model_plan": "Model.plan",
        "rc_model_verify": "Model.verify",
        "rc_tenant_create": "Tenant.create",
        "rc_error_retry_after_ms": "RuncibleException#retryAfter"}

    def value_name(self, enum, constant):
        return f"{pascal(enum_words(self.api, enum))}.{enum.rest(constant)}"

    def method_words(self, words):
        return camel(words)

    def enum_name(self, enum):
        return pascal(enum_words(self.api, enum))

    def member_name(self, member):
        return camel(member.without_unit)

    def said(self, comment):
        text = html.escape(super().said(comment), quote=False)
        text = text.replace("@", "&#64;").replace("*/", "*&#47;")
        text = re.sub(r"`([^`]+)`", r"{@code \1}", text)
        return re.sub(r"\bRuncibleException[.#]\w+", r"{@link \g<0>}", text)

    def comment(self, found, text):
        if found["begin"] == "/**":
            return self.doc(text, found["indent"])
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

    def doc(self, text: str, indent: str = "") -> str:
        if not text:
            return ""
        if "\n" not in text and len(indent + text) < self.width - 8:
            return f"{indent}/** {text} */\n"
        return f"{indent}/**\n{self._body(text, indent)}{indent} */\n"

    def type_of_member(self, member: Member) -> str:
        if member.of is not None:
            return f"List<{pascal(words_of(member.of.name))}>"
        if member.enum is not None:
            return pascal(enum_words(self.api, member.enum))
        if self.converts(member):
            return "Duration"
        return TYPES[member.kind]
