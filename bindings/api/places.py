"""The places of the headers' functions in the packages, for their comments.

A function of a handle is a method: rc_session_truncate is `truncate` of a session. A
function that makes an object is its class, and one without a handle is a function of
the package. Languages write this in their own way.
"""

import re
from typing import Optional, Tuple

from calls import makers
from headers import Api, Function, Struct
from members import report_of, reporting_functions, report_words
from tensors import op_words, ops

# Functions at another place than their name suggests: the object, "" for a function
# of the package, and the method, "" for the function that makes the object.
_PLACES = {
    "rc_model_plan": ("", "plan"),
    "rc_plan_describe": ("", "plan"),
    "rc_plan_device": ("", "plan"),
    "rc_plan_offer": ("", "plan"),
    "rc_model_verify": ("", "verify"),
    "rc_model_convert": ("", "convert"),
    "rc_model_fetch": ("", "fetch"),
    "rc_model_quantize": ("", "quantize"),
    "rc_cached_model_remove": ("", "remove_cached_model"),
    "rc_model_info_open": ("model", ""),
    "rc_session_create": ("model", "session"),
    "rc_grammar_create": ("grammar", ""),
    "rc_tenant_create": ("tenant", ""),
    "rc_error_retry_after_ms": ("error", "retry_after"),
    "rc_chat_create": ("session", "chat"),
    "rc_chat_answer_async": ("chat", "answer"),
    "rc_tokenize": ("tokenizer", "tokenize"),
    "rc_detokenize": ("tokenizer", "detokenize"),
    "rc_op_choose": ("tensor", "choice"),
    "rc_custom_op_create": ("custom_op", ""),
    "rc_graph_begin": ("graph", "record"),
    "rc_graph_input": ("graph", "record"),
    "rc_graph_end": ("graph", "record"),
    "rc_generate": ("session", "generate"),
    "rc_generate_async": ("session", "generate"),
}


def handles(api: Api):
    """Returns the words of the handles, "model_info" before "model"."""
    found = [each[len("rc_"):-len("_release")] for each in api.functions
             if each.endswith("_release")]
    return sorted(found, key=len, reverse=True)


def place_of(api: Api, function: Function) -> Tuple[str, str]:
    """Returns the words of the object and of the method."""
    if function.name in _PLACES:
        return _PLACES[function.name]
    if function in ops(api):
        return "tensor", op_words(function)
    for each in makers(api):
        if each.function is function:
            return "tensor", each.words
    own = function.name[len("rc_"):]
    owner = next((each for each in handles(api) if own.startswith(each + "_")), "")
    if function in reporting_functions(api, "rc_" + owner):
        return owner, report_words("rc_" + owner, function)
    method = own[len(owner):].lstrip("_")
    if method in ("open", "load"):
        return owner, ""
    return owner, re.sub("_memory$", "_bytes", method)


def filler_of(api: Api, struct: Struct) -> Optional[Function]:
    """Returns the function that fills a report, preferably of a handle alone."""
    found = [each for each in api.functions.values() if report_of(api, each) is struct
             and each.result == "rc_status"]
    return min(found, key=lambda each: len(each.parameters), default=None)


def taker_of(api: Api, struct: Struct) -> Optional[Function]:
    """Returns the function that takes options, preferably the one of their name."""
    found = [each for each in api.functions.values() if each.result == "rc_status"
             and any(struct.name == one.ctype.replace("const ", "").rstrip("*")
                     for one in each.parameters)]
    own = struct.name[len("rc_"):-len("_options")]
    return min(found, default=None, key=lambda each: (
        not re.search(rf"{own}(_(open|load|create))?$", each.name)))
