"""Lua: choices of options by name, kinds of devices, ops."""

import re

from calls import Call, Input
from language import Language, block
from members import (choices, jsons, kinds, members, pairs, pascal, report_of, report_words,
                     words_of)
from tensors import Argument, arguments, op_words


class Made(Language):
    suffix = ".lua"
    mark = re.compile(r"^(?P<indent>[ \t]*)-- :header: (?P<names>[\w. ]+)\n",
                      re.MULTILINE)
    nothing = "nil"
    method_form, maker_form, function_form = "{}:{}", "{}.new", "runcible.{}"
    options_are_keywords = reports_are_tables = True
    own_places = {"rc_error_retry_after_ms": "Error.retry_after"}

    def comment(self, found, text):
        doc = self.filled(text, "-- ", found["indent"])
        return doc.replace("--", "---", 1)

    def files(self):
        return {"runcible/members.lua": self._members()}

    def parts(self):
        return {**super().parts(), "members": lambda name: self.lines(
            "Options: " + ", ".join(each.without_unit for each in members(
                self.api, self.struct(name))) + ".", "-- ")}

    def _members(self) -> str:
        """Returns the tables of members that the package needs at run time."""
        named = {"dtype": "DTYPE_", "activation": "FUNCTION_"}
        named.update((name, enum.prefix[3:])
                     for name, enum in choices(self.api).items())
        return block([
            "--- Members that differ from the numbers and texts of C.",
            'local native = require "runcible.native"', "",
            "-- Returns constants with a prefix, by the rest of their names in lower case.",
            "local function constants(prefix)", "  local found = {}",
            "  for name, number in pairs(native) do",
            '    local rest = name:match("^" .. prefix .. "(.*)")',
            "    if rest then found[rest:lower()] = number end", "  end",
            "  return found", "end", "", "return {",
            "  -- Options that are given by name: their numbers.", "  choices = {",
            *(f'    {name} = constants "{prefix}",'
              for name, prefix in named.items()), "  },",
            "  -- Options that are two numbers, vertical and horizontal.", "  pairs = {",
            *(f"    {name} = true," for name in pairs(self.api)), "  },",
            "  -- Options that are JSON.", "  jsons = {",
            *(f"    {name} = true," for name in jsons(self.api)), "  },",
            "  -- Kinds of devices, by their numbers.", "  kinds = {",
            *(f'    [native.{each.native}] = "{text}",'
              for each, text in kinds(self.api).items()), "  },", "}"])

    def report_member(self, handle: str, function) -> str:
        struct = report_of(self.api, function)
        kind, own = pascal(words_of(handle)), report_words(handle, function)
        return (f"{self._doc(self.said(struct.doc))}{kind}.{own} = handle.report_method("
                f'{kind}, "{struct.native}", "{function.native}")\n')

    def plain(self, handle: str, call: Call) -> str:
        kind, names = pascal(words_of(handle)), [each.name for each in call.inputs]
        # The handle is checked before other arguments.
        proxy = "idle(self)" if call.exclusive else f'need(self, {kind}, "self")'
        others = call.of_kind("handle")
        lines = [f"  local proxy = {proxy}"] * bool(others)
        given = ["proxy" if others else proxy, *(_passed(each) for each in call.inputs)]
        value = f"native.{call.native}({', '.join(given)})"
        if call.gives == "handle":
            model = others[0].name if others else "self._model"
            value = f"of_model({model}, {value})"
        elif call.gives == "json":
            value = f"handle.decoded({value})"
        lines.append(f"  {'return ' * bool(call.gives)}{value}")
        if call.moves:
            lines.append(f"  self._model = {names[0]}")
        own = call.function.name[len(handle) + 1:]
        return self._doc(self.said(call.function.doc)) + block(
            [f"function {kind}:{own}({', '.join(names)})", *lines, "end"])

    def maker(self, call: Call) -> str:
        doc = self._doc(self.said(call.function.doc))
        if call.options is not None:
            names = (each.name for each in members(self.api, call.options))
            doc += self.lines(f"Options: {', '.join(names)}.", "-- ")
            set_them = f"handle.set_options(native.{call.options.native}(), options)"
        else:
            doc += "-- Options: dtype.\n"
            set_them = 'dtypes.number(options and options.dtype or "f32")'
        given = ['need(backend, Backend, "backend")',
                 *("made" if each.kind in ("dtype", "options") else each.name
                   for each in call.inputs)]
        return doc + block([f"function Tensor.{call.words}(shape, backend, options)",
                            f"  local made = {set_them}",
                            f"  return Tensor.of(native.{call.native}"
                            f"({', '.join(given)}))", "end"])

    def _doc(self, text: str) -> str:
        return self.filled(text, "-- ").replace("--", "---", 1)

    def op(self, function) -> str:
        taken = arguments(self.api, function)
        doc = self._doc(self.said_of_op(function))
        # The options include the optional tensors of an op with options.
        inside = [each.name for each in taken if each.optional and not each.struct
                  ] if any(each.struct for each in taken) else []
        for each in taken:
            if each.struct is not None:
                names = [*inside, *(member.name for member in
                                    members(self.api, each.struct))]
                doc += self.lines(f"Options: {', '.join(names)}.", "-- ")
        names = [_name(each) for each in taken if each.name not in inside]
        given = "".join(f",\n    {_given(each, inside)}" for each in taken)
        return (f"{doc}function Tensor:{op_words(function)}({', '.join(names)})\n"
                f"  return made(\n    self,\n    native.{function.native}{given}\n"
                "  )\nend\n")


def _name(argument: Argument) -> str:
    # The other names are keywords of Lua.
    names = {"function": "activation", "begin": "first", "end": "last"}
    return names.get(argument.name, argument.name)


def _given(argument: Argument, inside) -> str:
    name = _name(argument)
    if argument.struct is not None:
        others = ", ".join(f"{each} = true" for each in inside)
        return (f"handle.set_options(native.{argument.struct.native}(), options"
                + (f", {{{others}}})" if others else ")"))
    if argument.kind == "tensor" and argument.optional:
        value = f"options and options.{name}" if name in inside else name
        return f'optional({value}, "{name}")'
    if argument.kind == "tensor":
        return f'need({name}, Tensor, "{name}")'
    if argument.enum is not None:
        none = ' or "none"' if argument.default else ""
        return f'handle.choice("{name}", {name}{none})'
    if argument.kind == "flag":
        return f"{name} or false"
    default = {"all": "ALL"}.get(argument.default, argument.default)
    return f"{name} or {default}" if default else name


def _passed(taken: Input) -> str:
    """Returns the argument for the library."""
    if taken.kind == "handle":
        return f'need({taken.name}, {pascal(words_of(taken.of))}, "{taken.name}")'
    return taken.name
