"""Tcl: members of options, ops."""

import re

from calls import Call, Input
from language import Language, block
from members import (choices, jsons, members, pairs, pascal, report_of, times, report_words,
                     words_of)
from tensors import Argument, arguments, op_words


class Made(Language):
    suffix = ".tcl"
    mark = re.compile(r"^(?P<indent>[ \t]*)# :header: (?P<names>[\w. ]+)\n",
                      re.MULTILINE)
    nothing = '""'
    method_form, maker_form, function_form = "{1} of {0}", "{} new", "runcible::{}"
    options_are_keywords = reports_are_tables = True
    own_places = {"rc_error_retry_after_ms": "the errorcode"}
    width = 88

    def error_name(self, status):
        return "{RUNCIBLE " + status.name[len("RC_E_"):] + "}"

    def member_name(self, member):
        return "-" + member.without_unit

    def comment(self, found, text):
        return self.filled(text, "# ", found["indent"])

    def files(self):
        return {"members.tcl": self._members()}

    def parts(self):
        return {**super().parts(), "members": lambda name: self.lines(
            "Options: " + ", ".join("-" + each.without_unit for each in members(
                self.api, self.struct(name))) + ".", "# ")}

    def _members(self) -> str:
        """Returns the tables of members that the package needs at run time."""
        named = {"dtype": "DTYPE_", "function": "FUNCTION_"}
        named.update((name, enum.prefix[3:])
                     for name, enum in choices(self.api).items())
        return block([
            "# Members that differ from the numbers and texts of C.", "",
            "namespace eval ::runcible {",
            "    # Options that are given by name: the prefix of their constants.",
            f"    variable choices {{{_words(named)}}}",
            "    # Options that are two numbers, vertical and horizontal.",
            f"    variable pairs {{{' '.join(pairs(self.api))}}}",
            "    # Options that are JSON.",
            f"    variable jsons {{{' '.join(jsons(self.api))}}}",
            "    # Options that are times in seconds: their members in C.",
            f"    variable times {{{_words(times(self.api))}}}", "}"])

    def report_member(self, handle: str, function) -> str:
        struct = report_of(self.api, function)
        return (f"{self.filled(self.said(struct.doc), '# ')}"
                f"method {report_words(handle, function)} {{}} {{\n"
                f"    return [::runcible::Report {struct.native} \\\n"
                f"        [list ::runcible::native::{function.native} [my Handle]]]\n"
                "}\n")

    def plain(self, handle: str, call: Call) -> str:
        kind = pascal(words_of(handle))
        given = ["[my Idle]" if call.exclusive else "[my Handle]",
                 *(_passed(each) for each in call.inputs)]
        value = f"[::runcible::native::{call.native} {' '.join(given)}]"
        if len(value) > self.width - 16:
            value = value.replace(" [", " \\\n        [")
        if call.gives == "handle":
            value = f'[::runcible::{kind} new "" -handle \\\n        {value}]'
        elif call.gives == "json":
            value = f"[::runcible::Decoded [lindex {value} 0]]"
        body = f"return {value}" if call.gives else value[1:-1]
        names = " ".join(each.name for each in call.inputs)
        return (f"{self.filled(self.said(call.function.doc), '# ')}"
                f"method {call.function.name[len(handle) + 1:]} {{{names}}} {{\n"
                f"    {body}\n}}\n")

    def maker(self, call: Call) -> str:
        doc = self.filled(self.said(call.function.doc), "# ")
        given = ["[::runcible::Need $backend Backend backend]",
                 *(_passed(each) for each in call.inputs if each.kind != "options")]
        below = " \\\n        "
        called = f"::runcible::native::{call.native} {below.join(given)}"
        if call.options is not None:
            names = (f"-{each.name}" for each in members(self.api, call.options))
            doc += self.lines(f"Options: {', '.join(names)}.", "# ")
            called = (f"::runcible::WithOptions {call.options.native}{below}"
                      f"[::runcible::Pairs $args]{below}[list {called}]")
        last = "args" if call.options else "{dtype f32}"
        return (f"{doc}self method {call.words} {{shape backend {last}}} {{\n"
                f'    return [my new "" "" -handle{below}[{called}]]\n}}\n')

    def op(self, function) -> str:
        taken = arguments(self.api, function)
        said = self.said_of_op(function)
        doc = self.lines(said, "# ")
        struct = next((each.struct for each in taken if each.struct), None)
        # The options include the optional tensors of an op with options.
        inside = [each.name for each in taken if struct and each.kind == "tensor"
                  and each.optional]
        if struct is not None:
            names = [*inside, *(each.name for each in members(self.api, struct))]
            doc += self.lines("Options: " + ", ".join(f"-{name}" for name in names)
                              + ".", "# ")
        names = [_parameter(each) for each in taken
                 if each.name not in inside and not each.struct]
        head = " ".join([*names, *["args"] * (struct is not None)])
        given = "".join(f" \\\n        {_given(each, inside)}"
                        for each in taken if not each.struct)
        call = f"::runcible::native::{function.native} [my Handle]{given}"
        if struct is None:
            body = f"    my Made [{call}]\n"
        else:
            body = (f"    set pairs [::runcible::Pairs $args]\n"
                    f"    my Made [::runcible::WithOptions {struct.native} \\\n"
                    f"        [dict remove $pairs {' '.join(inside)}] [list {call}]]\n")
        return f"{doc}method {op_words(function)} {{{head}}} {{\n{body}}}\n"


def _words(named) -> str:
    return " ".join(f"{name} {value}" for name, value in named.items())


def _parameter(argument: Argument) -> str:
    name = argument.name
    if argument.kind == "tensor":
        return f'{{{name} ""}}' if argument.optional else name
    default = {"all": "-2147483648"}.get(argument.default, argument.default)
    return f"{{{name} {default}}}" if default else name


def _given(argument: Argument, inside) -> str:
    name = argument.name
    if name in inside:
        return f"[::runcible::OptionalOf $pairs {name}]"
    if argument.kind == "tensor":
        check = "Optional ${0} {0}" if argument.optional else "Need ${0} Tensor {0}"
        return f"[::runcible::{check.format(name)}]"
    if argument.kind == "enum":
        return f"[::runcible::Choice {name} ${name} {name}]"
    return f"${name}"


def _passed(taken: Input) -> str:
    """Returns the argument for the library."""
    name = f"${taken.name}"
    return {"dtype": f"[::runcible::DtypeNumber {name}]",
            "handle": f"[::runcible::Need {name} {pascal(words_of(taken.of))} "
                      f"{taken.name}]"}.get(taken.kind, name)
