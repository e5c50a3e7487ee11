"""Tcl: what options are, ops."""

import re

from language import Language, block, sentence
from members import (Argument, arguments, is_reduction, members, op_doc, op_words, ops,
                     options, text_of)


class Made(Language):
    suffix = ".tcl"
    mark = re.compile(r"^(?P<indent>[ \t]*)# :header: (?P<names>[\w. ]+)\n",
                      re.MULTILINE)
    nothing = '""'
    width = 88

    def error_name(self, status):
        return "{RUNCIBLE " + status.name[len("RC_E_"):] + "}"

    def value_name(self, enum, constant):
        return f'"{text_of(self.api, enum, constant)}"'

    def member_name(self, member):
        return "-" + member.without_unit

    def comment(self, found, text):
        return self.filled(text, "# ", found["indent"])

    def files(self):
        return {"members.tcl": self._members()}

    def parts(self):
        return {"ops": lambda _: "\n".join(self._op(each) for each in ops(self.api))}

    def _members(self) -> str:
        """What the package has to know of members when it runs."""
        choices, pairs, times = {"dtype": "DTYPE_", "function": "FUNCTION_"}, [], []
        for struct in options(self.api):
            for each in members(self.api, struct):
                if each.kind == "pair":
                    pairs.append(each.name)
                elif each.unit:
                    times.append(f"{each.without_unit} {each.name}")
                elif each.enum is not None:
                    choices[each.name] = each.enum.prefix[3:]
        return block([
            "# What members are that are more than numbers and texts of C.", "",
            "namespace eval ::runcible {",
            "    # Options that are told by a name: what the constants begin with.",
            f"    variable choices {{{_pairs(choices)}}}",
            "    # Options that are two numbers, down and across.",
            f"    variable pairs {{{' '.join(pairs)}}}",
            "    # Options that are times in seconds: their members of C.",
            f"    variable times {{{' '.join(times)}}}", "}"])

    def _op(self, function) -> str:
        taken = arguments(self.api, function)
        said = sentence(" ".join(self.said(op_doc(self.api, function)).split()))
        doc = self.lines(said, "# ")
        struct = next((each.struct for each in taken if each.struct), None)
        # Tensors that an op with options may lack are among them.
        inside = [each.name for each in taken if struct and each.kind == "tensor"
                  and each.optional]
        if struct is not None:
            names = [*inside, *(each.name for each in members(self.api, struct))]
            doc += self.lines("Options: " + ", ".join(f"-{name}" for name in names)
                              + ".", "# ")
        names = [_parameter(each, function) for each in taken
                 if each.name not in inside and not each.struct]
        head = " ".join([*names, *["args"] * (struct is not None)])
        given = "".join(f" \\\n        {_given(each, function, inside)}"
                        for each in taken if not each.struct)
        call = f"::runcible::native::{function.name[3:]} [my Handle]{given}"
        if struct is None:
            body = f"    my Made [{call}]\n"
        else:
            body = (f"    set pairs [::runcible::Pairs $args]\n"
                    f"    my Made [::runcible::WithOptions {struct.name[3:]} \\\n"
                    f"        [dict remove $pairs {' '.join(inside)}] [list {call}]]\n")
        return f"{doc}method {op_words(function)} {{{head}}} {{\n{body}}}\n"


def _pairs(choices) -> str:
    return " ".join(f"{name} {prefix}" for name, prefix in choices.items())


def _parameter(argument: Argument, function) -> str:
    name = argument.name
    if argument.kind == "tensor":
        return f'{{{name} ""}}' if argument.optional else name
    if argument.kind == "enum":
        return f"{{{name} none}}" if name == "function" else name
    if argument.kind == "flag":
        return f"{{{name} 0}}"
    if argument.kind == "float":
        return f"{{{name} 1e-5}}"
    return f"{{{name} {'-2147483648' if is_reduction(function) else '-1'}}}"


def _given(argument: Argument, function, inside) -> str:
    name = argument.name
    if name in inside:
        return f"[::runcible::OptionalOf $pairs {name}]"
    if argument.kind == "tensor":
        check = "Optional ${0} {0}" if argument.optional else "Need ${0} Tensor {0}"
        return f"[::runcible::{check.format(name)}]"
    if argument.kind == "enum":
        return f"[::runcible::Choice {name} ${name} {name}]"
    return f"${name}"
