"""Java: calls of the library, ops of tensors and methods with reports."""

from calls import Call, Input
from members import camel, enum_words, pascal, report_of, report_words, words_of
from tensors import Argument, arguments, is_reduction, op_words
from languages.java_words import TYPES, Words

# Methods that differ from others by their arguments.
_OVERLOADS = {"save_bytes": "save", "from_bytes": "of"}


class Calls(Words):
    def report_member(self, handle: str, function) -> str:
        """Returns a method whose value a function of the headers reports."""
        struct = report_of(self.api, function)
        kind, native = pascal(words_of(struct.name)), struct.native
        return (f"{self.doc(self.said(struct.doc))}"
                f"public {kind} {camel(report_words(handle, function))}() {{\n"
                f"  try ({native} report = new {native}()) {{\n"
                f"    Native.{function.native}(handle, report);\n"
                f"    return {kind}.of(report);\n  }}\n}}\n")

    def plain(self, handle: str, call: Call) -> str:
        kind, native = pascal(handle[len("rc_"):]), handle[len("rc_"):]
        gives, before, after = {
            "": ("void", "", ";"),
            "int64": ("long", "return (Long) ", ";"),
            "tokens": ("int[]", "return (int[]) ", ";"),
            "bytes": ("byte[]", "return (byte[]) ", ";"),
            "json": ("String", "return Text.decode((byte[]) ", ");"),
            "owned json": ("String", "return Text.decode((byte[]) ", ");"),
            "handle": (kind, f"return new {kind}(\n      new {native}((Long) ", "));"),
        }[call.gives]
        given = ["idle()" if call.exclusive else "handle",
                 *(_passed(each) for each in call.inputs)]
        name = _OVERLOADS.get(call.words, camel(call.words))
        head = self.call(f"public {gives} {name}",
                         [_taken(each) for each in call.inputs], " {")
        return (f"{self.doc(self.said(call.function.doc))}{head}\n"
                f"  {before}Native.{call.native}({', '.join(given)}){after}\n}}\n")

    def maker(self, call: Call) -> str:
        inputs = sorted(call.inputs, key=lambda each: each.kind == "shape")
        given = ["backend.handle", *(_passed(each) for each in call.inputs)]
        indent = "    " if call.options else "  "
        body = self.call(f"{indent}return new Tensor(Native.{call.native}", given,
                         ");\n")
        if call.options is not None:
            body = (f"  try ({call.options.native} made = options.make()) {{\n"
                    f"{body}  }}\n")
        head = self.call(
            f"public static Tensor {_OVERLOADS.get(call.words, camel(call.words))}",
            ["Backend backend", *(_taken(each) for each in inputs)], " {\n")
        return f"{self.doc(self.said(call.function.doc))}{head}{body}}}\n"

    def op(self, function) -> str:
        taken = arguments(self.api, function)
        name = camel(op_words(function))
        given = ["handle", *(self._given(each) for each in taken)]
        struct = next((each.struct for each in taken if each.struct), None)
        indent = "    " if struct is not None else "  "
        body = self.call(f"{indent}return new Tensor(Native.{function.native}", given,
                         ");\n")
        if struct is not None:
            body = f"  try ({struct.native} made = options.make()) {{\n{body}  }}\n"
        head = self.call(f"public Tensor {name}",
                         [self._parameter(each) for each in taken], " {\n")
        made = f"{self.doc(self.said_of_op(function))}{head}{body}}}\n"
        if is_reduction(function):
            made = (f"/** The same as {{@link #{name}(int, boolean)}} over all "
                    f"dimensions; shape [1]. */\npublic Tensor {name}() {{\n"
                    f"  return {name}(ALL, false);\n}}\n\n{made}")
        return made

    def _parameter(self, argument: Argument) -> str:
        name = camel(argument.name)
        if argument.kind == "tensor":
            return f"Tensor {name}"
        if argument.struct is not None:
            return f"{pascal(words_of(argument.struct.name))} {name}"
        if argument.enum is not None:
            return f"{pascal(enum_words(self.api, argument.enum))} {name}"
        kind = "long..." if argument.kind == "shape" else TYPES[argument.kind]
        return f"{kind} {name}"

    def _given(self, argument: Argument) -> str:
        name = camel(argument.name)
        if argument.kind == "tensor":
            return f"optional({name})" if argument.optional else f"{name}.handle"
        if argument.struct is not None:
            return "made"
        if argument.enum is not None:
            return f"{name}.number()"
        if argument.kind == "flag":
            return f"{name} ? 1 : 0"
        return f"(float) {name}" if argument.kind == "float" else name


def _taken(taken: Input) -> str:
    """Returns the parameter of a plain function."""
    name = camel(taken.name)
    if taken.kind == "options":
        return f"{pascal(words_of(taken.struct.name))} {name}"
    if taken.kind == "handle":
        return f"{pascal(words_of(taken.of))} {name}"
    kinds = {"int64": "long", "path": "Path", "dtype": "Dtype", "bytes": "byte[]",
             "shape": "long..."}
    return f"{kinds[taken.kind]} {name}"


def _passed(taken: Input) -> str:
    """Returns the argument for the library."""
    name = camel(taken.name)
    return {"path": f"Text.path({name})", "handle": f"{name}.handle",
            "dtype": f"{name}.number()", "options": "made"}.get(taken.kind, name)
