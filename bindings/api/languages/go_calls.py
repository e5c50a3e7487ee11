"""Go: calls of the library, ops of tensors and methods with reports."""

from calls import Call, Input
from language import block
from members import camel, enum_words, report_of, report_words, words_of
from tensors import Argument, arguments, op_doc, op_words
from languages.go_words import TYPES, Words, lowered, name_of, swig_of, type_of

# Functions with other names.
_NAMES = {"from_bytes": "TensorOfBytes"}


class Calls(Words):
    def report_member(self, handle: str, function) -> str:
        struct = report_of(self.api, function)
        receiver, own = name_of(words_of(handle)), name_of(report_words(handle, function))
        kind, me = type_of(struct), receiver[:1].lower()
        doc = self.said_flat(struct.doc)
        return block([
            f"{self.doc(f'{own}: {lowered(doc)}')}"
            f"func ({me} *{receiver}) {own}() (*{kind}, error) {{",
            f"\thandle, err := {me}.use()", "\tif err != nil {", "\t\treturn nil, err",
            "\t}", f"\tdefer {me}.handle.done()",
            f"\treturn read{kind}(func(report native.{swig_of(struct.name)}) error {{",
            f"\t\treturn native.{swig_of(function.name)}(handle, report)", "\t})", "}"])

    def handle_methods(self, handle: str) -> str:
        """Returns the methods that use and release a handle."""
        own = name_of(words_of(handle))
        me, word, native = own[:1].lower(), own.lower(), f"native.{swig_of(handle)}"
        said = words_of(handle).replace("_", " ")
        return block([
            f"// Close releases the {said}; calls that use it run to their end.",
            f"func ({me} *{own}) Close() error {{", f"\t{me}.handle.close()",
            "\treturn nil", "}", "",
            f"func ({me} *{own}) use() ({native}, error) {{",
            f"\tif {me} == nil {{",
            f'\t\treturn nil, newError(ErrInvalidArgument, "the {said} is nil")', "\t}",
            f"\treturn {me}.handle.use()", "}", "",
            f"// with calls a function with the {said}.",
            f"func ({me} *{own}) with(call func({native}) error) error {{",
            f"\t{word}, err := {me}.use()", "\tif err != nil {", "\t\treturn err",
            "\t}",
            f"\tdefer {me}.handle.done()", f"\treturn call({word})", "}"])

    def plain(self, handle: str, call: Call) -> str:
        receiver = name_of(words_of(handle))
        me, word, own = receiver[:1].lower(), receiver.lower(), name_of(call.words)
        gives, place, made = {
            "": ("", "", ""), "int64": ("int64", "made", ""),
            "tokens": ("[]int32", "memory", "made = memory.TakeTokens()"),
            "bytes": ("[]byte", "memory", "made = memory.TakeBytes()"),
            "json": ("map[string]any", "memory",
                     "return json.Unmarshal([]byte(memory.Text()), &made)"),
            "owned json": ("[]byte", "memory", "made = []byte(memory.TakeText())"),
            "handle": (f"*{receiver}", "pointer", f"made = own{receiver}(pointer)"),
        }[call.gives]
        result = f"(made {gives}, err error)" if gives else "error"
        failed = "return nil, err" if gives else "return err"
        lines = [f"{self._doc_of(own, call)}func ({me} *{receiver}) {own}"
                 f"({', '.join(_taken(each) for each in call.inputs)}) {result} {{"]
        for each in call.inputs:
            if each.kind == "path":
                lines += [f'\tname, err := makeName("the path", {camel(each.name)})',
                          "\tif err != nil {", f"\t\t{failed}", "\t}"]
            elif each.kind == "handle":
                lines += [f"\tother, err := {camel(each.name)}.use()",
                          "\tif err != nil {", f"\t\t{failed}", "\t}",
                          f"\tdefer {camel(each.name)}.handle.done()"]
        given = [word, *(_passed(each) for each in call.inputs),
                 *[f"&{place}"] * bool(place)]
        called = f"native.{swig_of(call.function.name)}({', '.join(given)})"
        lines.append(f"\t{'err =' if gives else 'return'} {me}.with("
                     f"func({word} native.{receiver}) error {{")
        if made:
            lines += [f"\t\tvar {place} "
                      + ("uintptr" if place == "pointer" else "native.Memory"),
                      f"\t\tif err := {called}; err != nil {{", "\t\t\treturn err",
                      "\t\t}", f"\t\t{made}",
                      *["\t\treturn nil"] * (not made.startswith("return"))]
        else:
            lines.append(f"\t\treturn {called}")
        return block([*lines, "\t})", *["\treturn made, err"] * bool(gives), "}"])

    def maker(self, call: Call) -> str:
        own = _NAMES.get(call.words, name_of(call.words))
        inputs = sorted(call.inputs, key=lambda each: each.kind == "shape")
        taken = ["backend *Backend", *(_taken(each) for each in inputs)]
        given = ["b", *(_passed(each) for each in call.inputs), "pointer"]
        return block([
            f"{self._doc_of(own, call)}func {own}({', '.join(taken)}) "
            "(*Tensor, error) {",
            "\treturn on(backend, func(b native.Backend, pointer *uintptr) error {",
            f"\t\treturn native.{swig_of(call.function.name)}({', '.join(given)})",
            "\t})", "}"])

    def _doc_of(self, own: str, call: Call) -> str:
        return self.doc(f"{own}: {lowered(self.said_flat(call.function.doc))}")

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


def _taken(taken: Input) -> str:
    """Returns the parameter of a plain function."""
    kinds = {"int64": "int64", "path": "string", "dtype": "DType", "bytes": "[]byte",
             "shape": "...int64", "handle": f"*{name_of(words_of(taken.of))}"}
    return f"{camel(taken.name)} {kinds[taken.kind]}"


def _passed(taken: Input) -> str:
    """Returns the argument for the library."""
    name = camel(taken.name)
    return {"path": "name", "handle": "other", "dtype": f"int32({name})"}.get(
        taken.kind, name)
