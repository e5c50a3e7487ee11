"""The part that all wrappers share: the structs and handles of the headers, and the
names of options in messages."""

import re

from calls import Call, calls
from language import Language, block
from members import end_numbers, flags, options

# Structs with hand-written constructors, or with plain functions in their place; see
# generate_options.i, chat.i, convert.i, embed.i, fetch.i, graphs.i and custom_ops.i.
_BY_HAND = {"rc_generate_options", "rc_chat_options",
            "rc_embed_options", "rc_fetch_options", "rc_quantize_options",
            "rc_rerank_options", "rc_graph_run_options", "rc_custom_op_options"}
# Messages name their members options->name.
_ALWAYS_NAMED = {"rc_custom_op_options"}
# Events are pulled, so that the packages have no loops; see events.i.
_IGNORED = {"rc_loop_release", "rc_pinned_release"}


class Made(Language):
    suffix = ""
    mark = re.compile(r"(?!)(?P<names>)")  # no comments

    def parts(self):
        return {
            "structs": lambda _: block(
                f"runcible_struct({each.name})" for each in self._structs()),
            "owned_options": lambda _: "\n".join(
                self._owned(each) for each in self._initialised()
                if self._memory_of(each)),
            "texts": lambda _: block(
                f"%immutable {struct.name}::{each.name};" for struct in self._structs()
                if struct.is_report for each in struct.fields
                if each.ctype == "const char*"),
            "pairs": lambda _: "\n".join(
                self._pairs(each) for each in options(self.api)
                if any(member.array == 2 for member in each.fields)),
            "handles": lambda _: block(
                f"runcible_handle({name[:-len('_release')]})"
                for name in self.api.functions
                if name.endswith("_release") and name not in _IGNORED),
            "end_numbers": lambda _: (
                "#define RUNCIBLE_END_NUMBERS(DO) \\\n" + " \\\n".join(
                    f"  DO({each})" for each in end_numbers(self.api)) + "\n"),
            "flags": lambda _: "%apply int32_t FLAG {\n  " + ",\n  ".join(
                f"int32_t {each}" for each in flags(self.api)) + "\n}\n",
            "option_names": lambda _: block(self._option_names()),
        }

    def files(self):
        return {"later_calls.i": block([
            "/* The plain functions of sessions that may wait, as promises of Node. */",
            "%inline %{", *(_later(each) for each in calls(self.api, "rc_session")
                            if each.exclusive or each.moves), "%}"])}

    def _initialised(self):
        """Returns the structs that are initialised with the library's defaults."""
        return [each for name, each in self.api.structs.items()
                if (each.is_options or each.is_report) and name not in _BY_HAND]

    def _structs(self):
        """Returns those of them that are plain memory."""
        return [each for each in self._initialised() if not self._memory_of(each)]

    def _memory_of(self, struct):
        """Returns the texts and the handles of options, which the object keeps."""
        if not struct.is_options:
            return []
        return [each for each in struct.fields if each.ctype == "const char*"
                or each.ctype.rstrip("*") + "_release" in self.api.functions]

    def _owned(self, struct) -> str:
        """Returns the code of options.i for one struct."""
        name, kept = struct.native, self._memory_of(struct)
        declared, freed, macros = [], [], [f"runcible_owned_options({name})"]
        for each in kept:
            is_text = each.ctype == "const char*"
            declared.append(f"  {'char*' if is_text else each.ctype} {each.name};")
            freed.append(f"  free(owned->{each.name});" if is_text else
                         f"  if (!runcible_forked) {each.ctype.rstrip('*')}_release("
                         f"owned->{each.name});")
            macros.append(f"runcible_owned_{'text' if is_text else 'handle'}"
                          f"({name}, {each.name})")
        return block([
            "%{", "typedef struct {", f"  {struct.name} options;", *declared,
            f"}} owned_{name};",
            f"static void free_members_of_{name}(owned_{name}* owned) {{", *freed, "}",
            f"RUNCIBLE_OWNED_OPTIONS({name})", "%}", *macros])

    def _pairs(self, struct) -> str:
        """Returns a function that sets both numbers of a pair."""
        pairs = [each for each in struct.fields if each.array == 2]
        lines = [f"%ignore {struct.name}::{each.name};" for each in pairs]
        lines.append(f"%extend {struct.name} {{")
        for each in pairs:
            lines += [f"  void set_{each.name}(int32_t down, int32_t across) {{",
                      f"    $self->{each.name}[0] = down;",
                      f"    $self->{each.name}[1] = across;", "  }"]
        return block([*lines, "}"])

    def _option_names(self):
        """Returns names that messages may have to rename. Names with a unit are not
        renamed, because languages have another unit."""
        names = [field.name for struct in options(self.api) if struct.name not in _ALWAYS_NAMED
                 for field in struct.fields if field.ctype not in ("size_t", "uint32_t", "void*")
                 and not field.ctype.endswith("_callback")
                 and not re.search(r"_[mu]s$", field.name)]
        return [f'"{name}",' for name in dict.fromkeys(names)]


def _later(call: Call) -> str:
    """Returns a promise of a plain function; see node/swig/later.i."""
    name = call.function.name
    taken, held, given = (["rc_session* session"],
                          ["session = runcible_hold(session)"], ["session.get()"])
    for each in call.inputs:
        if each.kind == "path":
            taken.append(f"const char* {each.name}")
            held.append(f"{each.name} = runcible_copy({each.name})")
            given.append(f"{each.name}()")
        elif each.kind == "handle":
            taken.append(f"{each.of}* {each.name}")
            held.append(f"{each.name} = runcible_hold({each.name})")
            given.append(f"{each.name}.get()")
        else:
            taken.append(f"int64_t {each.name}")
            held.append(each.name)
            given.append(each.name)
    arguments = ", ".join(given)
    lines = {
        "": ["runcible_later_nothing(", "      [HELD] {",
             f"        return {name}({arguments});", "      });"],
        "tokens": ["runcible_later_array<Napi::Int32Array, int32_t>(",
                   "      [HELD](int32_t** data, size_t* count) {",
                   f"        return {name}({arguments}, data, count);", "      });"],
        "bytes": ["runcible_later_array<Napi::Uint8Array, uint8_t>(",
                  "      [HELD](uint8_t** data, size_t* size) {",
                  "        void* memory = nullptr;", "        const rc_status status =",
                  f"            {name}({arguments}, &memory, size);",
                  "        *data = static_cast<uint8_t*>(memory);",
                  "        return status;", "      });"],
        "handle": ["runcible_later_handle<rc_session>(",
                   "      [HELD](rc_session** made) {",
                   f"        return {name}({arguments}, made);", "      },",
                   "      SWIGTYPE_p_rc_session);"],
    }[call.gives]
    return "\n".join([
        f"static runcible_later* {call.native}_later({', '.join(taken)}) {{",
        "  return " + "\n".join(lines).replace("HELD", ", ".join(held)), "}"])
