"""The ops of tensors: their names and arguments."""

import re
from dataclasses import dataclass
from typing import List, Optional

from headers import INTEGERS, Api, Enum, Function, Struct


@dataclass(frozen=True)
class Argument:
    """An argument of an op of tensors after the first tensor."""

    name: str
    kind: str  # "tensor", "options", "shape", "flag", "float", "enum", "int32", ...
    default: str = ""  # in languages with defaults; "all": all dimensions
    optional: bool = False  # NULL is allowed
    enum: Optional[Enum] = None
    struct: Optional[Struct] = None


# Defaults of arguments, which C does not have.
_DEFAULTS = {"epsilon": "1e-5", "step": "1", "keep": "0", "descending": "0",
             "pad value": "0", "softmax dimension": "-1", "sort dimension": "-1",
             "argsort dimension": "-1", "topk dimension": "-1",
             "argtopk dimension": "-1", "take_along dimension": "-1",
             "transpose dimension": "-2", "transpose other": "-1"}
_FLAGS = {"keep", "descending"}


def ops(api: Api) -> List[Function]:
    """Returns the functions of a tensor that make a new one: ops and views. Moving a
    tensor to another handle is written by hand."""
    return [each for each in api.functions.values()
            if len(each.parameters) > 1 and each.parameters[0].ctype == "rc_tensor*"
            and each.parameters[-1].ctype == "rc_tensor**"
            and all(one.ctype != "rc_backend*" for one in each.parameters)]


def op_words(function: Function) -> str:
    """Returns the name of an op: rc_op_reduce_sum is sum, rc_tensor_slice slice."""
    return re.sub(r"^rc_(op_reduce_|op_|tensor_)", "", function.name)


def is_reduction(function: Function) -> bool:
    return any(each.name == "keep" for each in function.parameters)


def _may_be_null(function: Function, name: str) -> bool:
    """Whether a comment allows NULL: "bias [n] or NULL", "`frequencies` ... NULL: none"."""
    sentences = re.split(r"[;.:](?=\s)", " ".join(function.doc.split()))
    return any(re.search(rf"\b{name}\b[^,]*\[[^]]*\] or NULL", each)
               for each in sentences) or (
        re.search(rf"`{name}`.*\bNULL: none", " ".join(function.doc.split()))
        is not None)


def arguments(api: Api, function: Function) -> List[Argument]:
    """Returns the arguments between the first tensor and the result."""
    found = []
    for each in function.parameters[1:-1]:
        base = each.ctype.replace("const ", "").rstrip("*")
        default = _DEFAULTS.get(f"{op_words(function)} {each.name}",
                                _DEFAULTS.get(each.name, ""))
        if base == "rc_tensor":
            found.append(Argument(each.name, "tensor",
                                  optional=_may_be_null(function, each.name)))
        elif base in api.structs:
            found.append(Argument(each.name, "options", optional=True,
                                  struct=api.structs[base]))
        elif api.enum(base) is not None:
            none = api.enum(base).constants[0].name.endswith("_NONE")
            found.append(Argument(each.name, "enum", "none" if none else "",
                                  enum=api.enum(base)))
        elif each.ctype == "const int64_t*":
            found.append(Argument(each.name, "shape"))
        elif each.name in _FLAGS:
            found.append(Argument(each.name, "flag", default))
        elif each.name == "dimension" and is_reduction(function):
            found.append(Argument(each.name, "int32", "all"))
        elif each.name != "rank":
            found.append(Argument(each.name, "float" if base == "float"
                                  else INTEGERS[base], default))
    return found


def op_doc(api: Api, function: Function) -> str:
    """Returns the comment of an op; for an elementwise op that of its function."""
    functions = api.enum("rc_function")
    name = "RC_FUNCTION_" + op_words(function).upper()
    for each in functions.constants if functions else []:
        if each.name == name and each.doc:
            return f"{each.doc}, of each element."
    return function.doc
