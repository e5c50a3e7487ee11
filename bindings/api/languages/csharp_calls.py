"""C#: calls of the library, ops of tensors and properties with reports."""

import textwrap

from calls import Call, Input
from members import camel, enum_words, pascal, report_of, report_words, words_of
from tensors import Argument, arguments, op_words
from languages.csharp_words import TYPES, Words

# Methods that differ from others by their arguments.
_OVERLOADS = {"save_bytes": "Save", "from_bytes": "From"}


class Calls(Words):
    def report_member(self, handle: str, function) -> str:
        """Returns a property whose value a function of the headers reports."""
        struct = report_of(self.api, function)
        kind = pascal(words_of(struct.name))
        doc = self.said_flat(struct.doc)
        return (f"{self.summary(doc)}"
                f"public {kind} {pascal(report_words(handle, function))} {{\n  get {{\n"
                f"    using (var report = new {struct.native}()) {{\n"
                f"      native.{function.native}(handle, report);\n"
                f"      return new {kind}(report);\n    }}\n  }}\n}}\n")

    def plain(self, handle: str, call: Call) -> str:
        kind, native = pascal(handle[len("rc_"):]), handle[len("rc_"):]
        gives, outputs, value = {
            "": ("void", [], ""),
            "int64": ("long", ["out long made"], "made"),
            "tokens": ("int[]", ["out var made", "out ulong count"],
                       "Memory.TakeInts(made, count)"),
            "bytes": ("byte[]", ["out var made", "out ulong size"],
                      "Memory.TakeBytes(made, size)"),
            "json": ("string", ["out var made"], "Memory.Text(made)"),
            "owned json": ("string", ["out var made"], "Memory.TakeText(made)"),
            "handle": (kind, ["out var made"], f"new {kind}(new {native}(made))"),
        }[call.gives]
        given = ["Idle()" if call.exclusive else "handle",
                 *(_passed(each) for each in call.inputs), *outputs]
        body = self.call(f"  native.{call.native}", given, ";") + "\n"
        if value:
            body += f"  return {value};\n"
        if call.gives == "json":
            body = ("  // The handle owns the text, and is kept until it is copied.\n"
                    "  bool used = Reference.Use(handle);\n  try {\n"
                    f"{textwrap.indent(body, '  ')}  }} finally {{\n"
                    "    Reference.Leave(handle, used);\n  }\n")
        name = _OVERLOADS.get(call.words, pascal(call.words))
        head = self.call(f"public {gives} {name}",
                         [_taken(each) for each in call.inputs], " {")
        if call.gives == "int64" and not call.inputs:
            head = f"public {gives} {name} {{"
            body = f"  get {{\n{textwrap.indent(body, '  ')}  }}\n"
        return f"{self.summary(self.said_flat(call.function.doc))}{head}\n{body}}}\n"

    def maker(self, call: Call) -> str:
        inputs = sorted(call.inputs, key=lambda each: each.kind == "shape")
        given = ["backend.handle", *(_passed(each) for each in call.inputs),
                 "out var made"]
        indent = "    " if call.options else "  "
        body = (self.call(f"{indent}native.{call.native}", given, ";")
                + f"\n{indent}return Of(made);\n")
        if call.options is not None:
            body = (f"  using ({call.options.native} given = options.Make()) {{\n"
                    f"{body}  }}\n")
        head = self.call(
            f"public static Tensor {_OVERLOADS.get(call.words, pascal(call.words))}",
            ["Backend backend", *(_taken(each) for each in inputs)], " {")
        return f"{self.summary(self.said_flat(call.function.doc))}{head}\n{body}}}\n"

    def op(self, function) -> str:
        taken = arguments(self.api, function)
        given = ["handle", *(self._given(each) for each in taken), "out var made"]
        struct = next((each.struct for each in taken if each.struct), None)
        indent = "    " if struct is not None else "  "
        body = (self.call(f"{indent}native.{function.native}", given, ";")
                + f"\n{indent}return Of(made);\n")
        if struct is not None:
            kind = pascal(words_of(struct.name))
            body = (f"  using ({struct.native} given =\n"
                    f"      (options ?? new {kind}()).Make()) {{\n{body}  }}\n")
        head = self.call(f"public Tensor {pascal(op_words(function))}",
                         [self._parameter(each) for each in taken], " {")
        return f"{self.summary(self.said_of_op(function))}{head}\n{body}}}\n"

    def _parameter(self, argument: Argument) -> str:
        name = camel(argument.name)
        if argument.kind == "tensor":
            return f"Tensor {name}" + (" = null" if argument.optional else "")
        if argument.struct is not None:
            return f"{pascal(words_of(argument.struct.name))} {name} = null"
        if argument.enum is not None:
            kind = pascal(enum_words(self.api, argument.enum))
            return f"{kind} {name}" + (f" = {kind}.None" if argument.default else "")
        if argument.kind == "shape":
            return f"params long[] {name}"
        if argument.kind == "flag":
            return f"bool {name} = false"
        default = {"all": "All"}.get(argument.default, argument.default)
        return f"{TYPES[argument.kind]} {name}" + (f" = {default}" if default else "")

    def _given(self, argument: Argument) -> str:
        name = camel(argument.name)
        if argument.kind == "tensor":
            return f"{name}{'?' if argument.optional else ''}.handle"
        if argument.struct is not None:
            return "given"
        if argument.kind == "shape":
            return f"{name}, {name}.Length"
        if argument.kind == "flag":
            return f"{name} ? 1 : 0"
        cast = {"enum": "(int)", "float": "(float)"}.get(argument.kind, "")
        return f"{cast}{name}"


def _taken(taken: Input) -> str:
    """Returns the parameter of a plain function."""
    name = camel(taken.name)
    if taken.kind == "options":
        return f"{pascal(words_of(taken.struct.name))} {name}"
    if taken.kind == "handle":
        return f"{pascal(words_of(taken.of))} {name}"
    kinds = {"int64": "long", "path": "string", "dtype": "Dtype", "bytes": "byte[]",
             "shape": "params long[]"}
    return f"{kinds[taken.kind]} {name}"


def _passed(taken: Input) -> str:
    """Returns the argument for the library."""
    name = camel(taken.name)
    return {"path": f"Memory.Name({name})", "handle": f"{name}.handle",
            "dtype": f"(int){name}", "shape": f"{name}, {name}.Length",
            "bytes": f"{name}, (ulong){name}.Length", "options": "given",
            }.get(taken.kind, name)
