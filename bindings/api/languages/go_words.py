"""Go: names, types and comments."""

import re

from headers import Constant, Enum, Struct
from language import Language
from members import Member, enum_words, words_of

# Words that are spelled in another way than Word.
_WORDS = {each.lower(): each for each in (
    "ABI BOS CPU DType EOS GELU GPU ID IO RMS ReLU SiLU").split()}
_WORDS["conv2d"] = "Conv2D"
_TYPES_OF = {"rc_device_report": "Device"}
# Constants with another name, for compatibility.
_VALUES = {
    "RC_DEVICE_OTHER": "OtherDevice",
    "RC_DEVICE_GPU_DISCRETE": "DiscreteGPU",
    "RC_DEVICE_GPU_INTEGRATED": "IntegratedGPU",
    "RC_DEVICE_SOFTWARE": "SoftwareDevice",
    "RC_FULL_ERROR": "FullIsError",
    "RC_FULL_SHIFT": "FullShifts",
    "RC_FUNCTION_NONE": "NoFunction",
}
# Enumerations whose constants have a prefix.
_PREFIXES = {"rc_end_reason": "End", "rc_huge_pages": "HugePages", "rc_numa": "Numa"}
TYPES = {"int32": "int32", "int64": "int64", "uint32": "uint32", "uint64": "uint64",
          "float": "float32", "flag": "bool", "text": "string",
          "json": "any", "pair": "[2]int32"}


def name_of(words: str) -> str:
    """Returns a name: top_k is TopK, and physical_id PhysicalID."""
    return "".join(_WORDS.get(word, word[:1].upper() + word[1:])
                   for word in words.lower().split("_"))


def type_of(struct: Struct) -> str:
    return _TYPES_OF.get(struct.name, name_of(words_of(struct.name)))


def swig_of(name: str) -> str:
    """Returns SWIG's name: rc_model_options is Model_options."""
    own = name[len("rc_"):]
    return own[:1].upper() + own[1:]


def lowered(text: str) -> str:
    """Returns a text as it follows a colon."""
    return text[:1].lower() + text[1:] if re.match(r"A |[A-Z][a-z]", text) else text


class Words(Language):
    suffix = ".go"
    mark = re.compile(r"^(?P<indent>[ \t]*)//runcible:doc (?P<names>\S+)\n",
                      re.MULTILINE)
    nothing = "nil"
    unit = ""
    # Other functions are found by the marks above them.
    own_places = {"rc_model_info_open": "LoadModel",
                  "rc_error_retry_after_ms": "Error.RetryAfter"}

    def error_name(self, status: Constant) -> str:
        return "Err" + name_of(status.name[len("RC_E_"):])

    def value_name(self, enum: Enum, constant: Constant) -> str:
        rest = enum.rest(constant)
        own = rest if any(each.isdigit() for each in rest) else name_of(rest)
        return _VALUES.get(constant.name, _PREFIXES.get(enum.name, "") + own)

    def method_words(self, words):
        return name_of(words)

    def enum_name(self, enum):
        return name_of(enum_words(self.api, enum))

    def member_name(self, member: Member) -> str:
        return name_of(member.without_unit)

    def struct_name(self, struct: Struct) -> str:
        return type_of(struct)

    def read(self, sources):
        """Takes the names of what is declared below a mark."""
        super().read(sources)
        declared = re.compile(
            r"//runcible:doc (\w+)\n\s*(?:func \(\w+ \*(\w+)\) (\w+)"
            r"|(?:func|type) (\w+)|(\w+) +(?:\w+ +)?=)")
        for source in sources:
            for c, receiver, method, plain, constant in declared.findall(source):
                own = f"{receiver}.{method}" if method else plain or constant
                self.names[c] = own

    def comment(self, found, text):
        return "".join(f"{found['indent']}// {line}".rstrip() + "\n"
                       for line in text.splitlines())

    def doc(self, text: str, indent: str = "") -> str:
        return self.lines(text, "// ", indent) if text else ""
