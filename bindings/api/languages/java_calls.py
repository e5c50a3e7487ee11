"""Java: what calls the library, ops of tensors and methods that tell reports."""

from members import camel, enum_words, pascal, report_of, told_words, words_of
from tensors import Argument, arguments, is_reduction, op_words
from languages.java_words import TYPES, Words


class Calls(Words):
    def told(self, handle: str, function) -> str:
        """A method whose value a function of the headers tells."""
        struct = report_of(self.api, function)
        kind, native = pascal(words_of(struct.name)), struct.name[3:]
        return (f"{self.doc(self.said(struct.doc))}"
                f"public {kind} {camel(told_words(handle, function))}() {{\n"
                f"  try ({native} report = new {native}()) {{\n"
                f"    Native.{function.name[3:]}(handle, report);\n"
                f"    return {kind}.of(report);\n  }}\n}}\n")

    def op(self, function) -> str:
        taken = arguments(self.api, function)
        name = camel(op_words(function))
        given = ["handle", *(self._given(each) for each in taken)]
        struct = next((each.struct for each in taken if each.struct), None)
        indent = "    " if struct is not None else "  "
        body = self.call(f"{indent}return new Tensor(Native.{function.name[3:]}", given,
                         ");\n")
        if struct is not None:
            body = f"  try ({struct.name[3:]} made = options.make()) {{\n{body}  }}\n"
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
