"""Go: what calls the library, ops of tensors and methods that tell reports."""

from language import block
from members import camel, enum_words, report_of, told_words, words_of
from tensors import Argument, arguments, op_doc, op_words
from languages.go_words import TYPES, Words, lowered, name_of, swig_of, type_of


class Calls(Words):
    def told(self, handle: str, function) -> str:
        struct = report_of(self.api, function)
        receiver, own = name_of(words_of(handle)), name_of(told_words(handle, function))
        kind, me = type_of(struct), receiver[:1].lower()
        doc = self.said_flat(struct.doc)
        return block([
            f"{self.doc(f'{own}: {lowered(doc)}')}"
            f"func ({me} *{receiver}) {own}() (*{kind}, error) {{",
            f"\thandle, err := {me}.use()", "\tif err != nil {", "\t\treturn nil, err",
            "\t}", f"\tdefer {me}.handle.done()",
            f"\treturn read{kind}(func(report native.{swig_of(struct.name)}) error {{",
            f"\t\treturn native.{swig_of(function.name)}(handle, report)", "\t})", "}"])

    def op(self, function) -> str:
        taken = arguments(self.api, function)
        own = name_of(op_words(function))
        doc = self.said_flat(op_doc(self.api, function))
        lines = [f"{self.doc(f'{own}: {doc}')}"
                 f"func (t *Tensor) {own}({_parameters(self, taken)}) "
                 "(*Tensor, error) {"]
        for each in taken:
            if each.struct is not None:
                lines += ["\to, err := options.native()", "\tif err != nil {",
                          "\t\treturn nil, err", "\t}",
                          f"\tdefer native.Delete{swig_of(each.struct.name)}(o)"]
        tensors = [each for each in taken if each.kind == "tensor"]
        given = ["tensor", *(_given(each) for each in taken if each.kind != "tensor"),
                 "pointer"]
        if tensors:
            given[:1] = [f"x[{i}]" for i in range(len(tensors) + 1)]
            operands = ", ".join(["t", *(camel(each.name) for each in tensors)])
            optional = sum(each.optional for each in tensors)
            lines.append(f"\treturn op([]*Tensor{{{operands}}}, {optional}, "
                         "func(x []native.Tensor, pointer *uintptr) error {")
        else:
            lines.append(
                "\treturn t.view(func(tensor native.Tensor, pointer *uintptr) error {")
        return block([*lines, f"\t\treturn native.{swig_of(function.name)}"
                      f"({', '.join(given)})", "\t})", "}"])


def _parameters(language: Words, taken) -> str:
    tensors = ", ".join(camel(each.name) for each in taken if each.kind == "tensor")
    others = []
    for each in taken:
        if each.struct is not None:
            others.append(f"options {type_of(each.struct)}")
        elif each.enum is not None:
            others.append(f"{each.name} {name_of(enum_words(language.api, each.enum))}")
        elif each.kind == "shape":
            others.append(f"{each.name} ...int64")
        elif each.kind != "tensor":
            others.append(f"{each.name} {TYPES[each.kind]}")
    return ", ".join([f"{tensors} *Tensor"] * bool(tensors) + others)


def _given(argument: Argument) -> str:
    if argument.struct is not None:
        return "o"
    if argument.enum is not None:
        return f"int32({argument.name})"
    return f"flag({argument.name})" if argument.kind == "flag" else argument.name
