"""Go: options as functions and as structs whose zero value is the default, reports,
types with their constants, ops."""

import re

from headers import Enum, Struct
from language import block, sentence
from members import (Member, end_numbers, enum_words, members, options, reports,
                     shown_enums, reporting_functions)
from tensors import ops
from languages.go_calls import Calls
from languages.go_words import TYPES, lowered, name_of, swig_of, type_of

# Options of hand-written types.
_HIDDEN = {"RC_RANDOM_", "RC_ROPE_"}
# Structs with hand-written options.
_BY_HAND = {"rc_generate_options", "rc_random_options", "rc_rope_options"}
_OF_EVENTS = "rc_generate_report"
_HANDLES = ("rc_backend", "rc_chat", "rc_custom_op", "rc_grammar", "rc_graph", "rc_model", "rc_session",
            "rc_tenant", "rc_tensor", "rc_tokenizer")
# Options that also change an object: zero leaves a limit as it is, and a negative
# number removes it.
_OF_CHANGES = "rc_tenant_options"
# The context of a generation has its deadline.
_OF_CONTEXT = "deadline_ms"


class Made(Calls):
    def files(self):
        generate = self.api.structs.get("rc_generate_options")
        return {
            "generated_options.go": self._file("\n".join([
                *(self._option(each) for each in
                  (members(self.api, generate) if generate else [])
                  if each.name != _OF_CONTEXT),
                *(self._options(each) for each in options(self.api)
                  if each.name not in _BY_HAND)])),
            "generated_reports.go": self._file("\n".join([
                *(self._report(each) for each in reports(self.api)),
                *(self.report_member(handle, each)
                  for handle in _HANDLES
                  for each in reporting_functions(self.api, handle))])),
            "generated_types.go": self._file("\n".join([
                self._statuses(), *(self._enum(each) for each in shown_enums(self.api)
                                    if each.prefix not in _HIDDEN)])),
            "generated_calls.go": self._file("\n".join([
                *(text for handle in _HANDLES for text in
                  [self.handle_methods(handle), *self.plain_calls(handle)]),
                *self.plain_makers()])),
            "generated_ops.go": self._file("\n".join(
                self.op(each) for each in ops(self.api)
                if each.name != "rc_op_rope")),
        }

    def parts(self):
        names = {each: "".join(word.capitalize() for word in each.split("_"))
                 for each in end_numbers(self.api)}
        return {
            "fields": lambda name: self._fields(self.struct(name)),
            "end_fields": lambda _: block(f"{own} int64" for own in names.values()),
            "end_values": lambda _: block(f"{own}: int64(c.report.{each}),"
                                          for each, own in names.items()),
        }

    def _file(self, body: str) -> str:
        code = "\n".join(line for line in body.split("\n")
                         if not line.lstrip().startswith("//"))
        uses = [f'\t"{each}"\n' for each, used in (
            ("encoding/json", "json.Unmarshal"), ("time", "time."),
            ("runcible/internal/native", "native.")) if used in code]
        imports = f"import (\n{''.join(uses)})\n\n" if uses else ""
        return f"package runcible\n\n{imports}{body}"

    # ---- Types

    def _statuses(self) -> str:
        lines = []
        for each in self.api.statuses:
            lines += [self.doc(self.said_flat(each.doc), "\t"),
                      f"\t{self.error_name(each)} Status = {each.value}\n"]
        return f"// The statuses of the library.\nconst (\n{''.join(lines)})\n"

    def _enum(self, enum: Enum) -> str:
        name = name_of(enum_words(self.api, enum))
        doc = self.said_flat(enum.doc)
        values, texts = [], []
        for each in enum.constants:
            said = sentence(self.said_flat(each.doc))
            own = self.value_name(enum, each)
            values.append(f"{self.doc(said, chr(9))}\t{own} {name} = {each.value}\n")
            texts.append(f'\t{own}: "{enum.rest(each).lower()}",\n')
        made = (f"{self.doc(f'{name}: {lowered(doc)}' if doc else '')}"
                f"type {name} int32\n\nconst (\n{''.join(values)})\n")
        if name == "DType":
            made += (f"\nvar dtypeNames = map[{name}]string{{\n{''.join(texts)}}}\n")
        return made

    # ---- Options

    def _option(self, member: Member) -> str:
        """Returns a function that makes an option of Session.Generate."""
        own = name_of(member.without_unit)
        doc = self.doc(f"{own}: {lowered(self.said_of(member))}")
        value, taken = "value", f"value {TYPES.get(member.kind)}"
        if member.unit:
            value, taken = "milliseconds(value)", "value time.Duration"
        elif member.enum is not None:
            kind = name_of(enum_words(self.api, member.enum))
            value, taken = "int32(value)", f"value {kind}"
        elif member.kind == "flag":
            value, taken = ("1", "") if member.default != "1" else ("0", "")
        made = []
        if member.kind == "json":
            value = "text"
            made = [f'\t\ttext, err := toJSON("{own}", value)',
                    "\t\tif err != nil {", "\t\t\treturn err", "\t\t}"]
        return block([f"{doc}func {own}({taken}) GenerateOption {{",
                      "\treturn func(o native.Generate_options) error {", *made,
                      f"\t\to.Set{swig_of('rc_' + member.name)}({value})",
                      "\t\treturn nil", "\t}", "}"])

    def _options(self, struct: Struct) -> str:
        name, swig = type_of(struct), swig_of(struct.name)
        doc = f"{name}: {lowered(self.said_flat(struct.doc))}"
        with_function = struct.field("progress") or struct.field("function")
        unset = "A field with its zero value is not set" + (
            ", and NoLimit removes a limit." if struct.name == _OF_CHANGES else ".")
        declared = "" if with_function else (
            f"{self.doc(f'{doc} {unset}')}"
            f"type {name} struct {{\n{self._fields(struct)}}}\n\n")
        shown = members(self.api, struct)
        settings = "".join(self._setting(struct, each) for each in shown)
        return (f"{declared}func (options *{name}) native() (native.{swig}, error) {{\n"
                f"\to := native.New{swig}()\n"
                "\tif err := made(o); err != nil {\n\t\treturn nil, err\n\t}\n"
                f"{settings}\treturn o, nil\n}}\n")

    def _fields(self, struct: Struct) -> str:
        return "".join(
            f"{self.doc(self._field_doc(struct, each), chr(9))}"
            f"\t{self._field(each)} {self._option_type(struct, each)}\n"
            for each in members(self.api, struct))

    def _field_doc(self, struct: Struct, member: Member) -> str:
        said = self.said_of(member)
        if struct.name == _OF_CHANGES:
            return re.sub(r"; nil: not set\b", "", said)
        if _is_denied(member):  # its default is that of the member of C
            said = re.sub(r"\s*Default: true\.$", "", said)
            return re.sub(r"^false: (.)", lambda found: found[1].upper(), said)
        if member.kind in ("float", "int32", "pair") and not member.is_zero:
            default = member.default.strip("{}").split(",")[0]
            return f"{said} Zero: {default}."
        return said

    def _field(self, member: Member) -> str:
        return ("No" if _is_denied(member) else "") + name_of(member.without_unit)

    def _field_type(self, member: Member) -> str:
        if member.of is not None:
            return f"[]{type_of(member.of)}"
        if member.enum is not None:
            pointer = "*" if member.default and not member.is_zero else ""
            return pointer + name_of(enum_words(self.api, member.enum))
        return "time.Duration" if member.unit else TYPES[member.kind]

    def _option_type(self, struct: Struct, member: Member) -> str:
        return "int64" if _is_limit(struct, member) and member.kind == "uint64" else (
            self._field_type(member))

    def _setting(self, struct: Struct, member: Member) -> str:
        own, setter = f"options.{self._field(member)}", swig_of("rc_" + member.name)
        if member.kind == "text":
            return (f'\tif err := setText("{self._field(member)}", {own}, '
                    f"o.Set_{member.name}); err != nil {{\n"
                    f"\t\tnative.Delete{swig_of(struct.name)}(o)\n"
                    "\t\treturn nil, err\n\t}\n")
        if member.kind == "pair":
            return (f"\tif {own} != [2]int32{{}} {{\n"
                    f"\t\to.Set_{member.name}({own}[0], {own}[1])\n\t}}\n")
        value = own
        if member.kind == "flag":
            # The zero value is not set.
            value = "0" if _is_denied(member) else "1"
        elif member.unit:
            value = f"milliseconds{'32' * (member.kind == 'int32')}({own})"
        elif _is_limit(struct, member):
            value = f"limit({own})"
            value = f"uint64({value})" if member.kind == "uint64" else value
        elif member.enum is not None:
            value = f"int32({'' if member.is_zero else '*'}{own})"
        is_set = f"{own} != 0"
        if member.kind == "flag":
            is_set = own
        elif member.enum is not None and not member.is_zero or member.kind == "json":
            is_set = f"{own} != nil"
        return f"\tif {is_set} {{\n\t\to.Set{setter}({value})\n\t}}\n"

    # ---- Reports

    def _report(self, struct: Struct) -> str:
        name = type_of(struct)
        shown = members(self.api, struct)
        doc = f"{name}: {lowered(self.said_flat(struct.doc))}"
        fields = "".join(f"{self.doc(self.said_of(each), chr(9))}"
                         f"\t{name_of(each.without_unit)} {self._report_type(each)}\n"
                         for each in shown)
        made = f"{self.doc(doc)}type {name} struct {{\n{fields}}}\n\n"
        if struct.name == _OF_EVENTS:
            values = self._values(shown, True)
            return (f"{made}func reportOf(r *native.Report) *Report {{\n"
                    f"\treturn &Report{{\n{values}\t}}\n}}\n")
        return made + self._read(name, struct, shown)

    def _report_type(self, member: Member) -> str:
        if member.enum is not None:
            return name_of(enum_words(self.api, member.enum))
        return self._field_type(member)

    def _read(self, name: str, struct: Struct, shown) -> str:
        swig = swig_of(struct.name)
        lists = [each for each in shown if each.of]
        values = self._values(shown, False)
        taken = "".join(f", {each.name} func(int64, native.{swig_of(each.of.name)}) "
                        "error" for each in lists)
        made = [f"// read{name} makes a {name} of the report that a function fills.",
                f"func read{name}(fill func(native.{swig}) error{taken}) "
                f"(*{name}, error) {{",
                f"\tr := native.New{swig}()", f"\tdefer native.Delete{swig}(r)",
                "\tif err := made(r); err != nil {", "\t\treturn nil, err", "\t}",
                "\tif err := fill(r); err != nil {", "\t\treturn nil, err", "\t}"]
        if not lists:
            return block([*made, f"\treturn &{name}{{\n{values}\t}}, nil", "}"])
        made.append(f"\twhole := &{name}{{\n{values}\t}}")
        for each in lists:
            own = name_of(each.name)
            count = f"r.Get{swig_of('rc_' + each.name[:-1])}_count()"
            made += [f"\tfor i := int64(0); i < int64({count}); i++ {{",
                     f"\t\tone, err := read{type_of(each.of)}("
                     f"func(report native.{swig_of(each.of.name)}) error {{",
                     f"\t\t\treturn {each.name}(i, report)", "\t\t})",
                     "\t\tif err != nil {", "\t\t\treturn nil, err", "\t\t}",
                     f"\t\twhole.{own} = append(whole.{own}, *one)", "\t}"]
        return block([*made, "\treturn whole, nil", "}"])

    def _values(self, shown, of_event: bool) -> str:
        return "".join(
            f"\t\t{name_of(each.without_unit)}: {self._value(each, of_event)},\n"
            for each in shown if not each.of)

    def _value(self, member: Member, of_event: bool) -> str:
        got = ("r." + "".join(each.capitalize() for each in member.name.split("_"))
               if of_event else f"r.Get{swig_of('rc_' + member.name)}()")
        if member.enum is not None:
            return f"{name_of(enum_words(self.api, member.enum))}({got})"
        if member.unit:
            return f"time.Duration({got}) * time.{member.unit.capitalize()[:-1]}"
        return f"{got} != 0" if member.kind == "flag" else got


def _is_limit(struct: Struct, member: Member) -> bool:
    """Returns whether a number is a limit that can be removed."""
    return (struct.name == _OF_CHANGES and member.is_zero
            and member.kind in ("int32", "int64", "uint64"))


def _is_denied(member: Member) -> bool:
    """Returns whether a flag is on by default, which the zero value cannot express."""
    return member.kind == "flag" and member.default == "1"
