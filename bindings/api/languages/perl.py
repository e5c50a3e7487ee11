"""Perl: names of options, classes of reports and of exceptions, ops, and their POD."""

import re

from calls import Call, Input
from headers import Struct
from language import Language, block
from members import kinds, members, options, report_of, reports, report_words
from tensors import Argument, arguments, op_words

_BASES = {"RC_E_DEVICE_LOST": "Runcible::Error::Device"}
# Classes of reports are Runcible::Report::NAME.
_NAMES = {"rc_backend_usage_report": "Usage", "rc_plan_device_report": "DevicePlan",
          "rc_plan_offer_report": "PlanOffer", "rc_tenant_usage_report": "TenantUsage",
          "rc_generate_report": "Generation"}
# Characters with a meaning in POD.
_ESCAPES = {"<": "E<lt>", ">": "E<gt>"}


class Made(Language):
    suffix = ".pm"
    mark = re.compile(r"^(?P<indent>)=for header (?P<names>\S+)\n", re.MULTILINE)
    nothing = "undef"
    units = ("milliseconds",)  # other times are numbers with their unit in the name
    error_form = "Runcible::Error::{}"
    error_words = {"RC_E_IO": "IO", "RC_E_ABI": "ABI"}
    lists_members = True
    method_form, maker_form = "Runcible::{}->{}", "Runcible::{}->new"
    function_form = "Runcible::{}"
    options_are_keywords = True

    def struct_name(self, struct):
        return (super().struct_name(struct) if struct.is_options
                else f"Runcible::Report::{_class_of(struct)}")

    def comment(self, found, text):
        struct = self.api.structs.get(found["names"])
        return self._listed(struct) if struct is not None else self._pod(text)

    def _pod(self, text: str) -> str:
        # Lines that begin with a space would be code in POD.
        text = re.sub(r"^[ \t]+", "", text, flags=re.MULTILINE)
        text = re.sub(r"[<>]", lambda found: _ESCAPES[found[0]], text)
        return self.filled(re.sub(r"`(\w+)`", r"C<\1>", text), "")

    def _listed(self, struct: Struct) -> str:
        """Returns the documentation of a struct and of its members one by one."""
        items = [f"=item {each.without_unit if self.converts(each) else each.name}\n\n"
                 f"{self._pod(self.said_of(each))}\n"
                 for each in members(self.api, struct)]
        said = self._pod(self.said(struct.doc)) + "\n" if struct.doc else ""
        return f"{said}=over\n\n{''.join(items)}=back\n"

    def files(self):
        return {"Runcible/Members.pm": self._members()}

    def parts(self):
        return {
            **super().parts(),
            "error_pod": lambda _: "\n".join(
                f"=head2 {self.error_name(each)}\n\n{self._pod(self.said(each.doc))}"
                + (f"\nA {_BASES[each.name]} too.\n" if each.name in _BASES else "")
                for each in self.api.statuses),
            "classes": lambda _: block(
                f"{each.value} => '{self.error_name(each)}',"
                for each in self.api.statuses),
            "bases": lambda _: block(
                f"@{self.error_name(each)}::ISA = ('{_BASES[each.name]}');"
                for each in self.api.statuses if each.name in _BASES),
            "report_pod": lambda _: "\n".join(
                f"=head2 Runcible::Report::{_class_of(each)}\n\n{self._listed(each)}"
                for each in reports(self.api)),
        }

    # ---- Tables of members that the package needs at run time

    def _members(self) -> str:
        structs = []
        for struct in options(self.api):
            shown = members(self.api, struct)
            times = ", ".join(f"{each.without_unit} => '{each.name}'"
                              for each in shown if each.unit)
            choices = ", ".join(f"{each.name} => '{each.enum.prefix[3:]}'"
                                for each in shown if each.enum is not None)
            structs += [f"    {struct.native} => {{",
                        *self._words("names", (each.without_unit for each in shown)),
                        f"        flags => [qw({_of_kind(shown, 'flag')})],",
                        f"        pairs => [qw({_of_kind(shown, 'pair')})],",
                        f"        jsons => [qw({_of_kind(shown, 'json')})],",
                        f"        times => {{{times}}},",
                        f"        choices => {{{choices}}},", "    },"]
        described = []
        for struct in reports(self.api):
            described += [f"    {_class_of(struct)} => {{",
                     f"        struct => '{struct.native}',",
                     *self._words("names", (each.name for each in
                                            members(self.api, struct))), "    },"]
        texts = [f"    {each.value} => '{text}',"
                 for each, text in kinds(self.api).items()]
        return block([
            "package Runcible::Members;", "",
            "# Members that differ from the numbers and texts of C.",
            "use strict;", "use warnings;", "",
            "# Options that are true or false, two numbers, JSON, times with their",
            "# names in C, and those given by name with the prefix of their constants.",
            "our %options = (", *structs, ");", "",
            "# Members of reports, by their class.",
            "our %reports = (", *described, ");", "",
            "# Kinds of devices, by their numbers.", "our %kinds = (", *texts, ");", "",
            "1;"])

    def _words(self, name: str, words) -> list:
        lines = self.lines(" ".join(words), "            ").splitlines()
        return [f"        {name} => [qw(", *lines, "        )],"]

    def report_member(self, handle: str, function) -> str:
        struct = report_of(self.api, function)
        own = report_words(handle, function)
        return (f"=head2 {own}\n\nA Runcible::Report::{_class_of(struct)}.\n\n"
                f"{self._pod(self.said(struct.doc))}\n=cut\n\n"
                f"sub {own} {{\n    my ($self) = @_;\n"
                f"    my $proxy = $self->proxy;\n"
                f"    return Runcible::Report->told('{_class_of(struct)}',\n"
                f"        sub {{ Runcible::Native::{function.native}"
                "($proxy, @_) });\n"
                "}\n")

    # ---- Plain functions

    def plain(self, handle: str, call: Call) -> str:
        names = [each.name for each in call.inputs]
        head = f"{call.words}({', '.join(names)})" if names else call.words
        variables = ", ".join(["$self", *(f"${name}" for name in names)])
        given = [f"$self->{'_idle' if call.exclusive else 'proxy'}",
                 *(_passed(each) for each in call.inputs)]
        called = self.call(f"    Runcible::Native::{call.native}", given, "").lstrip()
        if call.gives == "handle":
            model = next((f"${each.name}" for each in call.of_kind("handle")),
                         "$self->model")
            lines = [f"    my $made = {called};",
                     f"    return (ref $self)->of($made, model => {model});"]
        elif call.gives:
            value = f"$self->_json({called})" if "json" in call.gives else called
            lines = [f"    return {value};"]
        else:
            lines = [f"    {called};",
                     *[f"    $self->{{model}} = ${names[0]};"
                       for _ in names if call.moves],
                     "    return $self;" if call.changes else "    return;"]
        doc = self._pod(self.said(call.function.doc))
        if call.changes:
            doc += "\nReturns the object itself.\n"
        return f"=head2 {head}\n\n{doc}\n=cut\n\n" + block(
            [f"sub {call.words} {{", f"    my ({variables}) = @_;", *lines, "}"])

    def maker(self, call: Call) -> str:
        doc = self._pod(self.said(call.function.doc))
        lines = []
        if call.options is not None:
            doc += f"\n{self._listed(call.options)}"
            lines.append(f"    my $made = set_options('{call.options.native}', "
                         "\\%options);")
        given = ", ".join(["_backend($backend)",
                           *(_passed(each) for each in call.inputs)])
        last = "options..." if call.options else "dtype => 'f32'"
        return (f"=head2 {call.words}(shape, backend, {last})\n\n{doc}\n=cut\n\n"
                + block([f"sub {call.words} {{",
                         "    my ($class, $shape, $backend, %options) = @_;", *lines,
                         f"    return $class->of(Runcible::Native::{call.native}(",
                         f"        {given}));", "}"]))

    # ---- Ops

    def op(self, function) -> str:
        taken = arguments(self.api, function)
        name = op_words(function)
        shown = ["options..." if each.struct else each.name + "..." * (
            each.kind == "shape") for each in taken]
        head = f"{name}({', '.join(shown)})" if shown else name
        said = self.said_of_op(function)
        pod = self._pod(said)
        for each in taken:
            if each.struct is not None:
                pod += f"\n{self._listed(each.struct)}"
        variables = ", ".join(["$self"] + [_variable(each) for each in taken])
        given = "".join(f",\n        {_given(each)}" for each in taken)
        return (f"=head2 {head}\n\n{pod}\n=cut\n\nsub {name} {{\n"
                f"    my ({variables}) = @_;\n"
                f"    return $self->_made('{function.native}'{given});\n}}\n")


def _of_kind(shown, kind: str) -> str:
    return " ".join(each.name for each in shown if each.kind == kind)


def _class_of(struct: Struct) -> str:
    own = struct.name[len("rc_"):-len("_report")]
    return _NAMES.get(struct.name, own.capitalize())


def _variable(argument: Argument) -> str:
    if argument.struct is not None:
        return "%options"
    return f"{'@' if argument.kind == 'shape' else '$'}{argument.name}"


def _given(argument: Argument) -> str:
    name = f"${argument.name}"
    if argument.kind == "tensor":
        return f"{'_optional' if argument.optional else '_operand'}({name})"
    if argument.struct is not None:
        return f"set_options('{argument.struct.native}', \\%options)"
    if argument.kind == "enum":
        if argument.enum.name == "rc_dtype":
            return f"dtype_number({name})"
        return f"Runcible::Arguments::choice($functions, {name} // 'none', '{argument.name}')"
    if argument.kind == "flag":
        return f"{name} ? 1 : 0"
    if argument.kind == "shape":
        return f"\\@{argument.name}"
    default = {"all": "ALL"}.get(argument.default, argument.default)
    return f"{name} // {default}" if default else name


def _passed(taken: Input) -> str:
    """Returns the argument for the library."""
    name = f"${taken.name}"
    return {"path": f"path({name})", "options": "$made",
            "dtype": f"dtype_number($options{{{taken.name}}} // 'f32')",
            "handle": f"proxy_of({name}, 'Runcible::{taken.of[3:].capitalize()}', "
                      f"'{taken.name}')"}.get(taken.kind, name)
