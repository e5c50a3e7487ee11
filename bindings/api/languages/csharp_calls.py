"""C#: what calls the library, ops of tensors and properties that tell reports."""

from members import camel, enum_words, pascal, report_of, told_words, words_of
from tensors import Argument, arguments, op_words
from languages.csharp_words import TYPES, Words


class Calls(Words):
    def told(self, handle: str, function) -> str:
        """A property whose value a function of the headers tells."""
        struct = report_of(self.api, function)
        kind = pascal(words_of(struct.name))
        doc = self.said_flat(struct.doc)
        return (f"{self.summary(doc)}"
                f"public {kind} {pascal(told_words(handle, function))} {{\n  get {{\n"
                f"    using (var report = new {struct.name[3:]}()) {{\n"
                f"      native.{function.name[3:]}(handle, report);\n"
                f"      return new {kind}(report);\n    }}\n  }}\n}}\n")

    def op(self, function) -> str:
        taken = arguments(self.api, function)
        given = ["handle", *(self._given(each) for each in taken), "out var made"]
        struct = next((each.struct for each in taken if each.struct), None)
        indent = "    " if struct is not None else "  "
        body = (self.call(f"{indent}native.{function.name[3:]}", given, ";")
                + f"\n{indent}return Of(made);\n")
        if struct is not None:
            kind = pascal(words_of(struct.name))
            body = (f"  using ({struct.name[3:]} given =\n"
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
