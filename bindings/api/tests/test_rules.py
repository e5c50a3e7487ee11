"""The reader of headers, and the rules of types, names, units and texts."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from headers import read_api  # noqa: E402
from language import sentence  # noqa: E402
from languages import csharp, go, java, node, perl, python, ruby  # noqa: E402
import members as rules  # noqa: E402
import tensors  # noqa: E402

HEADER = """/* A header. */
#include <stdint.h>

typedef int32_t rc_status;
enum {
  RC_OK = 0,
  /* A file of that name does not exist. */
  RC_E_NOT_FOUND = -3
};

/* The kind of a device. */
typedef int32_t rc_device_kind;
enum {
  RC_DEVICE_OTHER = 0,
  RC_DEVICE_GPU_DISCRETE, /* a separate card */
};

/* When it is full. */
enum { RC_FULL_ERROR = 0, RC_FULL_SHIFT = 1 };

/* How to open; see rc_thing_open. RC_E_NOT_FOUND: there is none. */
typedef struct rc_thing_options {
  size_t struct_size;
  int32_t strict;     /* 1: missing ones are an error. 0: it is not */
  int32_t shared;     /* 0: nothing is */
  int32_t top_k;      /* 0: off */
  int32_t numbered;   /* 1: by number. Default: 1. */
  float warmth;       /* at most 1. Default: 0.8. */
  int64_t timeout_ms; /* from now on, milliseconds, 0: none; see top_k */
  int32_t when_full;  /* RC_FULL_ERROR or RC_FULL_SHIFT */
  float theta;
  int32_t stride[2]; /* down and across */
  const char* name;
  size_t name_length;
} rc_thing_options;

#define RC_THING_OPTIONS_INIT \\
  { RC_INITIAL(struct_size, sizeof(rc_thing_options)), \\
    RC_INITIAL(strict, 0), RC_INITIAL(shared, 1), RC_INITIAL(top_k, 40), \\
    RC_INITIAL(numbered, RC_UNSET_INT32), RC_INITIAL(warmth, RC_UNSET_FLOAT), \\
    RC_INITIAL(timeout_ms, 0), RC_INITIAL(when_full, RC_FULL_ERROR), \\
    RC_INITIAL(theta, 10000), RC_INITIAL(stride, {1, 2}), \\
    RC_INITIAL(name, NULL), RC_INITIAL(name_length, 0) }

/* One part. */
typedef struct rc_thing_part_report {
  size_t struct_size;
  const char* id; /* "a:0"; owned by the thing */
} rc_thing_part_report;

/* The description of a thing. */
typedef struct rc_thing_report {
  size_t struct_size;
  rc_device_kind kind;
  rc_status status;
  uint64_t compute_us; /* until now, microseconds */
  int32_t part_count;  /* of parts */
  int32_t fits;        /* 1, with parts: all of them fit */
} rc_thing_report;

/* The i-th part. */
RC_API rc_status rc_thing_part(rc_thing* thing, size_t i,
                               rc_thing_part_report* report);
RC_API rc_status rc_thing_describe(rc_thing* thing, rc_thing_report* report);

/* x weight for weight [n] or NULL, over one dimension. */
RC_API rc_status rc_op_reduce_try(rc_tensor* x, rc_tensor* weight,
                                  int32_t dimension, int32_t keep,
                                  rc_tensor** result);
"""


def api_of(header):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "thing.h").write_text(header, encoding="utf-8")
        Path(folder, "runcible.h").write_text('#include "runcible/thing.h"\n',
                                              encoding="utf-8")
        return read_api(folder)


API = api_of(HEADER)


def members_of(struct):
    return {each.name: each for each in rules.members(API, API.structs[struct])}


class Headers(unittest.TestCase):
    def test_structs(self):
        fields = {each.name: each for each in API.structs["rc_thing_options"].fields}
        self.assertEqual(fields["theta"].default, "10000")
        self.assertEqual(fields["stride"].default, "{1, 2}")
        # The comment gives the default of a member that is unset.
        self.assertEqual(fields["numbered"].default, "1")
        self.assertEqual(fields["warmth"].default, "0.8")
        self.assertEqual((fields["stride"].ctype, fields["stride"].array),
                         ("int32_t", 2))
        self.assertEqual(fields["name"].ctype, "const char*")
        self.assertEqual(fields["top_k"].doc, "0: off")

    def test_enumerations(self):
        kinds = API.enum("rc_device_kind")
        self.assertEqual([each.value for each in kinds.constants], [0, 1])
        self.assertEqual(kinds.prefix, "RC_DEVICE_")
        self.assertEqual(kinds.doc, "The kind of a device.")
        self.assertEqual(API.enum_of_prefix("RC_FULL_").doc, "When it is full.")
        self.assertEqual(kinds.constants[1].doc, "a separate card")
        self.assertEqual([each.name for each in API.statuses], ["RC_E_NOT_FOUND"])

    def test_functions(self):
        function = API.functions["rc_thing_part"]
        self.assertEqual(function.doc, "The i-th part.")
        self.assertEqual([(each.ctype, each.name) for each in function.parameters],
                         [("rc_thing*", "thing"), ("size_t", "i"),
                          ("rc_thing_part_report*", "report")])


class Rules(unittest.TestCase):
    def test_types_of_options(self):
        known = members_of("rc_thing_options")
        self.assertEqual({name: each.kind for name, each in known.items()}, {
            "strict": "flag", "shared": "flag", "top_k": "int32",
            "numbered": "flag", "warmth": "float", "timeout_ms": "int64", "when_full": "enum", "theta": "float",
            "stride": "pair"})

    def test_types_of_reports(self):
        known = members_of("rc_thing_report")
        self.assertEqual({name: each.kind for name, each in known.items()}, {
            "kind": "enum", "compute_us": "uint64", "fits": "flag",
            "parts": "list"})
        self.assertEqual(known["parts"].of.name, "rc_thing_part_report")

    def test_names_and_units(self):
        self.assertEqual(rules.pascal("top_k"), "TopK")
        self.assertEqual(rules.camel("when_full"), "whenFull")
        self.assertEqual(members_of("rc_thing_options")["timeout_ms"].without_unit,
                         "timeout")
        self.assertEqual(go.name_of("physical_id"), "PhysicalID")
        self.assertEqual(rules.words_of("rc_plan_device_report"), "device_plan")

    def test_a_value_as_text(self):
        kinds = API.enum("rc_device_kind")
        self.assertEqual(rules.text_of(API, kinds, kinds.constants[1]),
                         "discrete GPU")

    def test_functions_that_fill_reports(self):
        functions = rules.reporting_functions(API, "rc_thing")
        self.assertEqual([rules.report_words("rc_thing", each) for each in functions],
                         ["report"])

    def test_ops(self):
        (op,) = tensors.ops(API)
        self.assertEqual(tensors.op_words(op), "try")
        self.assertTrue(tensors.is_reduction(op))
        self.assertEqual([(each.name, each.kind, each.default, each.optional)
                          for each in tensors.arguments(API, op)],
                         [("weight", "tensor", "", True),
                          ("dimension", "int32", "all", False),
                          ("keep", "flag", "0", False)])


class Texts(unittest.TestCase):
    def test_sentences(self):
        self.assertEqual(sentence("bytes; 0: unknown"), "Bytes; 0: unknown.")
        self.assertEqual(sentence("exp(x) / sum(exp(x))"), "exp(x) / sum(exp(x)).")
        self.assertEqual(sentence("a b for matrices"), "a b for matrices.")

    def said(self, language, name):
        return language.Made(API).said_of(members_of("rc_thing_options")[name])

    def test_flags(self):
        self.assertEqual(self.said(java, "strict"),
                         "Missing ones are an error. false: it is not.")
        self.assertEqual(self.said(python, "shared"), "False: nothing is.")
        self.assertEqual(self.said(java, "numbered"), "By number. Default: true.")

    def test_units(self):
        self.assertEqual(self.said(csharp, "timeout_ms"),
                         "From now on, 0: none; see TopK.")
        self.assertEqual(self.said(ruby, "timeout_ms"),
                         "From now on, seconds, 0: none; see top_k.")
        self.assertEqual(self.said(node, "timeout_ms"),
                         "From now on, milliseconds, 0: none; see topK.")

    def test_names_of_the_language(self):
        comment = API.structs["rc_thing_options"].doc
        self.assertIn("NotFoundException: there", csharp.Made(API).said(comment))
        self.assertIn("ErrNotFound: there", go.Made(API).said(comment))
        self.assertIn("Runcible::Error::NotFound: there", perl.Made(API).said(comment))

    def test_names_as_code(self):
        text = "`top_k` and `name`"
        self.assertEqual(java.Made(API).said(text), "{@code topK} and {@code name}")
        self.assertEqual(ruby.Made(API).said(text), "+top_k+ and +name+")
        self.assertEqual(csharp.Made(API).summary(csharp.Made(API).said(text)),
                         "/// <summary><c>TopK</c> and <c>name</c></summary>\n")

    def test_phrases_that_concern_only_c_are_removed(self):
        member = members_of("rc_thing_part_report")["id"]
        self.assertEqual(python.Made(API).said_of(member), '"a:0".')

    def test_a_mark_of_an_unknown_name_is_an_error(self):
        with self.assertRaises(SystemExit):
            python.Made(API).written("# :header: rc_nothing\n")


if __name__ == "__main__":
    unittest.main()
