// Refused schemas, and the ways to write texts.
#include <climits>

#include "base/cat.h"
#include "text/grammar/grammar_util.h"

namespace rc::text::grammar {
namespace {

TEST(GrammarSchema, UnsupportedKeywordErrorNamesThePlace) {
  const auto error = [](std::string_view text) {
    return error_of([&] { schema(text); });
  };
  EXPECT_NE(error(R"({"type": "array", "not": {"uniqueItems": true}})")
                .find("uniqueItems"),
            std::string::npos);
  EXPECT_NE(error(R"g({"properties": {"a~/b": {"pattern": "(?<=x)"}}})g")
                .find("/properties/a~0~1b/pattern"),
            std::string::npos);
  EXPECT_NE(error(R"({"pattern": "\\bx"})").find("word boundary"),
            std::string::npos);
  EXPECT_NE(error(R"g({"pattern": "(a)\\1"})g").find("backreference"),
            std::string::npos);
  EXPECT_NE(error(R"({"$ref": "http://example.com/x"})").find("names nothing"),
            std::string::npos);
  EXPECT_NE(error(R"({"type": "text"})").find("/type"), std::string::npos);
  EXPECT_NE(error(R"({"minLength": -1})").find("/minLength"),
            std::string::npos);
  EXPECT_NE(error(R"({"multipleOf": 0})").find("/multipleOf"),
            std::string::npos);
  EXPECT_NE(error(R"({"format": "idn-hostname"})").find("/format"),
            std::string::npos);
  EXPECT_NE(error("{").find("JSON"), std::string::npos);
  EXPECT_NE(error(R"({"a": 1, "a": 2})").find("two members"),
            std::string::npos);
  EXPECT_NE(error(R"({"allOf": [{"$ref": "#"}]})").find("refers to itself"),
            std::string::npos);
}

// A schema that takes many steps stops when it is asked to, and what was
// compiled asks no more.
TEST(GrammarSchema, CompilingCanBeStopped) {
  std::string large = R"({"anyOf": [)";
  for (int i = 0; i < 150; ++i) {
    large += cat(i == 0 ? "" : ",", R"({"properties": {"a)", i,
                 R"(": {"type": "string", "pattern": "x{)", i, R"(,190}y"}}})");
  }
  large += "]}";
  int asked = 0;
  int last = INT_MAX;
  JsonOptions options;
  options.should_stop = [&] { return ++asked >= last; };
  const auto grammar = schema(large, options);
  const int whole = asked;
  EXPECT_GT(whole, 3);
  accepts(*grammar, R"({"a1": "xy"})");
  EXPECT_EQ(asked, whole);
  for (last = 1; last <= whole; last = last * 2 + 1) {
    asked = 0;
    try {
      schema(large, options);
      ADD_FAILURE() << "went on";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_CANCELLED);
    }
    EXPECT_EQ(asked, last);
  }
}

TEST(GrammarSchema, UnsatisfiableSchemasAreRefused) {
  for (const char* text :
       {"false", R"({"type": "string", "enum": [1]})", R"({"enum": []})",
        R"({"anyOf": []})", R"({"oneOf": [{}, {}]})", R"({"not": {}})",
        R"({"type": []})", R"({"pattern": "^[]$", "type": "string"})",
        R"({"allOf": [{"const": 1}, {"const": 2}]})",
        R"({"oneOf": [{"const": 1}, {"const": 1}]})",
        R"({"type": "array", "minItems": 2, "maxItems": 1})",
        R"({"type": "array", "minItems": 1, "items": false})",
        R"({"type": "object", "minProperties": 1, "propertyNames": false})",
        R"({"type": "object", "required": ["a"], "properties": {"a": false}})",
        R"({"type": "string", "minLength": 3, "maxLength": 2})",
        R"({"type": "string", "pattern": "^a$", "minLength": 2})",
        R"({"type": "integer", "minimum": 1, "maximum": 11,
            "allOf": [{"multipleOf": 4}, {"multipleOf": 6}]})",
        R"({"type": "integer", "minimum": 1, "maximum": 11,
            "allOf": [{"multipleOf": 6}, {"multipleOf": 4}]})",
        // Only an infinite value would do.
        R"({"type": "object", "required": ["a"],
            "properties": {"a": {"$ref": "#"}}})"}) {
    EXPECT_NE(error_of([&] { schema(text); }).find("no value is valid"),
              std::string::npos)
        << text;
  }
}

// The least and the most may be the same.
TEST(GrammarSchema, CountsAreBoundedOnBothSides) {
  const struct {
    const char* schema;
    const char* right;
    const char* less;
    const char* more;
  } cases[] = {{R"({"type": "string", "minLength": 2, "maxLength": 2})",
                R"("ab")", R"("a")", R"("abc")"},
               {R"({"type": "array", "minItems": 2, "maxItems": 2})", "[1,2]",
                "[1]", "[1,2,3]"},
               {R"({"type": "object", "minProperties": 1, "maxProperties": 1})",
                R"({"a":1})", "{}", R"({"a":1,"b":2})"},
               {R"({"type": "integer", "minimum": 12, "maximum": 12})", "12",
                "11", "13"},
               {R"({"type": "array", "contains": {"const": 1}, "minContains": 1,
           "maxContains": 1})",
                "[2,1]", "[2]", "[1,1]"},
               {R"({"type": "integer", "minimum": 1, "maximum": 12,
           "allOf": [{"multipleOf": 4}, {"multipleOf": 6}]})",
                "12", "4", "24"}};
  for (const auto& one : cases) {
    SCOPED_TRACE(one.schema);
    const auto grammar = schema(one.schema);
    EXPECT_TRUE(accepts(*grammar, one.right));
    EXPECT_FALSE(accepts(*grammar, one.less));
    EXPECT_FALSE(accepts(*grammar, one.more));
  }
}

TEST(GrammarSchema, AnchorsAreNotRepeated) {
  for (const char* pattern : {"(^a){2}", "(^a)*", "(a$){0,2}"}) {
    const std::string text =
        cat(R"({"type": "string", "pattern": ")", pattern, "\"}");
    EXPECT_NE(error_of([&] {
                schema(text);
              }).find("an anchor in a group that is repeated"),
              std::string::npos)
        << text;
  }
  const auto maybe = schema(R"({"type": "string", "pattern": "(^a)?b$"})");
  EXPECT_TRUE(accepts(*maybe, "\"ab\""));
  EXPECT_TRUE(accepts(*maybe, "\"cb\""));
  EXPECT_FALSE(accepts(*maybe, "\"ba\""));
  const auto once = schema(R"({"type": "string", "pattern": "(^a){1}b$"})");
  EXPECT_TRUE(accepts(*once, "\"ab\""));
  EXPECT_FALSE(accepts(*once, "\"cb\""));
}

// RFC 6901: ~1 is a slash and ~0 a tilde.
TEST(GrammarSchema, PointersHaveEscapes) {
  const auto refers = [](const char* pointer, const char* name) {
    const std::string text =
        cat(R"({"$ref": "#/$defs/)", pointer, R"(", "$defs": {")", name,
            R"(": {"type": "integer"}}})");
    const auto grammar = schema(text);
    EXPECT_TRUE(accepts(*grammar, "1")) << text;
    EXPECT_FALSE(accepts(*grammar, "true")) << text;
  };
  refers("~1a", "/a");
  refers("a~1", "a/");
  refers("a~1b", "a/b");
  refers("~0", "~");
  refers("~01", "~1");
  refers("%7E1", "/");
}

TEST(GrammarSchema, StringsMayBeWrittenWithEscapes) {
  const auto grammar = schema(R"({"enum": ["a\u00e9\n\"", "\ud83d\ude00"]})");
  EXPECT_TRUE(accepts(*grammar, "\"a\xC3\xA9\\n\\\"\""));
  EXPECT_TRUE(accepts(*grammar, "\"\\u0061\\u00e9\\u000a\\u0022\""));
  EXPECT_TRUE(accepts(*grammar, "\"\xF0\x9F\x98\x80\""));
  EXPECT_TRUE(accepts(*grammar, "\"\\ud83d\\uDE00\""));
  EXPECT_FALSE(accepts(*grammar, "\"\\ud83d\""));
  EXPECT_FALSE(accepts(*grammar, "\"\\ud83d\\u0061\""));
  EXPECT_FALSE(accepts(*grammar, "\"a\xC3\xA9\n\\\"\""));
}

TEST(GrammarSchema, KeysAreNeverRepeated) {
  const auto open = schema(R"({"type": "object"})");
  EXPECT_TRUE(accepts(*open, R"({"a": 1, "ab": 2, "": 3})"));
  EXPECT_FALSE(accepts(*open, R"({"a": 1, "a": 2})"));
  EXPECT_FALSE(accepts(*open, R"({"a": 1, "\u0061": 2})"));
  // Nothing leads to where only keys are left that are there already.
  const auto closed = schema(R"({"type": "object", "additionalProperties":
      false, "properties": {"aa": {}, "ab": {}}})");
  const auto matcher = closed->match();
  ASSERT_TRUE(matcher->accept_bytes(R"({"aa":1,"ab":2)"));
  EXPECT_FALSE(matcher->mask().test(','));
  matcher->rollback(1);
  ASSERT_TRUE(matcher->accept_bytes(R"({"aa":1,")"));
  EXPECT_TRUE(matcher->accept_bytes("\\u006"));
  EXPECT_TRUE(matcher->accept_bytes("1"));
  EXPECT_FALSE(matcher->mask().test('a'));
  EXPECT_TRUE(matcher->mask().test('b'));
}

TEST(GrammarSchema, WhiteSpaceIsLimitedByTheOption) {
  JsonOptions options;
  options.max_spaces = 2;
  const auto some = schema(R"({"type": "array"})", options);
  EXPECT_TRUE(accepts(*some, "  [  1 ,\n\n2\t]  "));
  EXPECT_FALSE(accepts(*some, "   []"));
  EXPECT_FALSE(accepts(*some, "[1,   2]"));
  options.max_spaces = 0;
  EXPECT_FALSE(accepts(*schema(R"({"type": "array"})", options), "[1, 2]"));
}

TEST(GrammarSchema, FollowsTheDraftOfTheSchema) {
  const auto with_draft = [](const std::string& draft, const char* rest) {
    return schema("{\"$schema\": \"http://json-schema.org/" + draft +
                  "/schema\"," + rest + "}");
  };
  const char* sibling = R"("$ref": "#/$defs/a", "maximum": 3,
                           "$defs": {"a": {"type": "integer"}})";
  EXPECT_TRUE(accepts(*with_draft("draft-07", sibling), "4"));
  EXPECT_FALSE(accepts(*with_draft("draft/2020-12", sibling), "4"));
  EXPECT_FALSE(accepts(*with_draft("draft-04", R"("type": "integer")"), "1.0"));
  EXPECT_TRUE(accepts(*with_draft("draft-07", R"("type": "integer")"), "1.0"));
  const char* exclusive = R"("minimum": 3, "exclusiveMinimum": true)";
  EXPECT_FALSE(accepts(*with_draft("draft-04", exclusive), "3"));
  const char* condition = R"("if": true, "then": {"type": "null"})";
  EXPECT_TRUE(accepts(*with_draft("draft-04", condition), "3"));
  EXPECT_TRUE(accepts(*with_draft("draft-06", condition), "3"));
  EXPECT_FALSE(accepts(*with_draft("draft-07", condition), "3"));
  const char* tuple =
      R"("items": [{"type": "null"}], "additionalItems": false)";
  EXPECT_FALSE(accepts(*with_draft("draft-07", tuple), "[null, 1]"));
}

TEST(GrammarSchema, ItemsThatDifferAreComparedByValue) {
  const auto unique = schema(R"({"uniqueItems": true})");
  for (const char* text :
       {"[]", "[1]", "[1, 2, \"1\", true, null, false]",
        "[[1], [2], [[1]], []]", R"([{"a": 1, "b": 2}, {"a": 2, "b": 1}])",
        R"(["a", "b\u0061"])", "[\"1\", 1, [1], {\"1\": 1}]", "[1e999, 1e998]",
        "[\"\", \"\\\"\"]", R"([["a", "b"], ["a\", \"b"]])",
        R"([["1:a"], ["1", "a"]])"}) {
    EXPECT_TRUE(accepts(*unique, text)) << text;
  }
  for (const char* text :
       {"[1, 1]", "[1, 2, 1]", "[1, 1.0]", "[0, -0.0]", "[100, 1e2]",
        "[\"a\", \"a\"]", R"(["ab", "\u0061b"])", "[null, null]",
        "[true, false, true]", "[[], []]", "[[1, [2]], [1.0, [2e0]]]",
        R"([{"a": 1, "b": 2}, {"b": 2, "a": 1}])", "[1e999, 1e999]",
        R"([{"a": [{}]}, {}, {"a": [{}]}])"}) {
    EXPECT_FALSE(accepts(*unique, text)) << text;
  }
  // Inner arrays are accepted if their items may repeat.
  EXPECT_TRUE(accepts(*unique, "[[1, 1], [2, 2]]"));
  EXPECT_FALSE(accepts(*schema(R"({"items": {"uniqueItems": true}})"),
                       "[[1], [1], [2, 2]]"));
  // An array that needs more values is not complete.
  const auto two = schema(
      R"({"uniqueItems": true, "type": "array", "items": {"enum": [1, "a"]}})");
  const auto matcher = two->match();
  ASSERT_TRUE(matcher->accept_bytes("[1,\"a\""));
  EXPECT_FALSE(matcher->mask().test(','));
  EXPECT_TRUE(matcher->mask().test(']'));
  EXPECT_NE(error_of([] {
              schema(R"({"uniqueItems": true, "type": "array", "minItems": 4,
                  "items": {"type": "integer", "minimum": 1, "maximum": 3}})");
            }).find("no value is valid"),
            std::string::npos);
  // Alternatives: only one of them asks for items that differ.
  const auto either = schema(R"({"type": "array", "anyOf": [
      {"uniqueItems": true}, {"items": {"type": "integer"}}]})");
  EXPECT_TRUE(accepts(*either, "[1, 1]"));
  EXPECT_TRUE(accepts(*either, "[1, \"a\"]"));
  EXPECT_FALSE(accepts(*either, "[\"a\", \"a\"]"));
}

std::shared_ptr<const Grammar> closed(std::string_view text) {
  JsonOptions options;
  options.reader.closed = true;
  return schema(text, options);
}

TEST(GrammarClosed, RequiredPropertiesComeFirstAsDeclared) {
  const auto grammar = closed(R"({"type": "object", "required": ["c", "a"],
      "properties": {"d": {}, "a": {}, "b": {}, "c": {}}})");
  expect_texts(*grammar,
               {R"({"a": 1, "c": 2})", R"({"a": 1, "c": 2, "b": 3, "d": 4})",
                R"({"a": 1, "c": 2, "d": 3, "b": 4})"},
               {R"({"c": 1, "a": 2})", R"({"b": 0, "a": 1, "c": 2})",
                R"({"a": 1, "c": 2, "e": 3})", R"({"a": 1})"});
  // Also where several alternatives are open.
  const auto either = closed(R"({"anyOf": [
      {"type": "object", "required": ["a", "b"], "properties":
       {"a": {"const": 1}, "b": {}}},
      {"type": "object", "required": ["b", "a"], "properties":
       {"b": {}, "a": {"const": 2}}}]})");
  expect_texts(*either, {R"({"a": 1, "b": 0})", R"({"b": 0, "a": 2})"},
               {R"({"a": 2, "b": 0})", R"({"b": 0, "a": 1})"});
}

TEST(GrammarClosed, ObjectsHaveOnlyNamedProperties) {
  expect_texts(*closed(R"({"allOf": [{"$ref": "#/$defs/base"},
                   {"properties": {"b": {}}, "required": ["b"]}],
                   "$defs": {"base": {"type": "object", "properties":
                   {"a": true}, "required": ["a"]}}})"),
               {R"({"a": 1, "b": 2})"},
               {R"({"b": 2, "a": 1})", R"({"a": 1, "b": 2, "c": 3})"});
  // Values of properties and items are closed, and what refers to itself.
  expect_texts(
      *closed(R"({"type": "object", "properties": {"v": {}, "next":
          {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
          "list": {"type": "array", "items": {"$ref": "#"}}}})"),
      {R"({"v": {"x": 1}, "next": {"next": null}, "list": [{}, {"v": 1}]})"},
      {R"({"next": {"x": 1}})", R"({"list": [{"x": 1}]})", R"({"x": 1})"});
  // One alternative's properties are not another's.
  expect_texts(*closed(R"({"oneOf": [
                   {"type": "object", "properties": {"k": {"const": "x"},
                    "a": {}}, "required": ["k"]},
                   {"type": "object", "properties": {"k": {"const": "y"},
                    "b": {}}, "required": ["k"]}]})"),
               {R"({"k": "x", "a": 1})", R"({"k": "y", "b": 1})"},
               {R"({"k": "x", "b": 1})", R"({"k": "y", "c": 1})"});
  expect_texts(*closed(R"({"type": "object", "properties": {"k": {}},
                   "if": {"properties": {"k": {"const": "x"}}},
                   "then": {"properties": {"a": {}}},
                   "else": {"required": ["b"]}})"),
               {R"({"k": "x", "a": 1})", R"({"k": "y", "b": 1})"},
               {R"({"k": "y", "b": 1, "c": 1})", R"({"k": "x", "c": 1})"});
  // Negations are of what is written: that has no other properties, either.
  expect_texts(*closed(R"({"type": "object", "properties": {"a": {}},
          "not": {"properties": {"a": {"type": "object", "required": ["b"],
          "properties": {"b": {}}}}, "required": ["a"]}})"),
               {R"({"a": 1})", R"({"a": {}})", "{}"},
               {R"({"a": {"b": 1, "c": 1}})", R"({"a": {"b": 1}})"});
}

// Invalid keywords are refused as in open schemas.
TEST(GrammarClosed, CombinationsAreListsOfSchemas) {
  for (const char* keyword : {"anyOf", "oneOf", "allOf"}) {
    const auto with = [&](const char* value) {
      return cat(R"({"type": "object", "properties": {"a": {}}, ")", keyword,
                 "\": ", value, "}");
    };
    for (const char* wrong : {"\"x\"", "{}", "[1]"}) {
      const std::string message = error_of([&] { schema(with(wrong)); });
      EXPECT_NE(message, "no error") << with(wrong);
      EXPECT_EQ(error_of([&] { closed(with(wrong)); }), message);
    }
    const std::string none = with("[]");
    EXPECT_EQ(error_of([&] { closed(none); }), error_of([&] { schema(none); }))
        << none;
  }
}

// An object that needs some properties is closed if enough are named, wherever
// they are.
TEST(GrammarClosed, MinPropertiesCountsNamedProperties) {
  const char* const filter = R"({"type": "object", "minProperties": 1, "anyOf":
      [{"properties": {"and": {"type": "array", "items": {"$ref": "#"}}}},
       {"properties": {"not": {"$ref": "#"}}},
       {"properties": {"v": {"type": "integer"}}}]})";
  expect_texts(*closed(filter),
               {R"({"v": 1})", R"({"not": {"and": [{"v": 1}, {"v": 2}]}})"},
               {"{}", R"({"x": 1})", R"({"not": {"x": 1}})", R"({"not": {}})"});
  expect_texts(*closed(R"({"allOf": [{"minProperties": 2}, {"properties":
                   {"a": {}}}, {"properties": {"a": {}, "b": {}}}]})"),
               {R"({"a": 1, "b": 2})"},
               {R"({"a": 1})", R"({"a": 1, "b": 2, "c": 3})"});
  // There are too few, in one alternative or in all.
  expect_texts(*closed(R"({"type": "object", "minProperties": 2, "anyOf":
                   [{"properties": {"a": {}}}, {"properties": {"b": {}, "c":
                   {}}}]})"),
               {R"({"a": 1, "x": 2})", R"({"b": 1, "c": 2})"}, {R"({"b": 1})"});
  expect_texts(*closed(R"({"type": "object", "properties": {"a": {}}, "anyOf":
                   [{"minProperties": 2}, {"required": ["a"]}]})"),
               {R"({"a": 1})", R"({"a": 1, "x": 2})"}, {"{}"});
}

TEST(GrammarClosed, ObjectsStayOpenIfTheSchemaDoes) {
  expect_texts(*closed(R"({"type": "object"})"), {R"({"x": {"y": 1}})"}, {});
  expect_texts(*closed(R"({"type": "object", "properties": {"a": {}},
                   "additionalProperties": {"type": "integer"}})"),
               {R"({"x": 1, "a": "b"})"}, {R"({"x": "b"})"});
  expect_texts(*closed(R"({"type": "object", "properties": {"a": {}},
                   "additionalProperties": true})"),
               {R"({"x": 1, "a": "b"})"}, {});
  expect_texts(*closed(R"({"type": "object", "properties": {"a": {}},
                   "unevaluatedProperties": {"type": "integer"}})"),
               {R"({"x": 1, "a": "b"})"}, {R"({"x": "b"})"});
  expect_texts(*closed(R"({"type": "object", "properties": {"a": {}},
                   "patternProperties": {"^x": {}}})"),
               {R"({"x": 1, "a": "b", "xy": 1})"}, {R"({"y": "b"})"});
  // An alternative that is any object.
  expect_texts(*closed(R"({"anyOf": [{"type": "object"}, {"type": "object",
                   "properties": {"a": {"type": "integer"}}}]})"),
               {R"({"x": 1})"}, {});
  // More are asked for than are named.
  expect_texts(*closed(R"({"type": "object", "properties": {"a": {}},
                   "required": ["b"], "minProperties": 3})"),
               {R"({"b": 1, "a": "b", "c": 1})"}, {R"({"b": 1})"});
  expect_texts(*closed(R"({"type": "object", "allOf": [{"minProperties": 1}],
                   "properties": {"a": false}})"),
               {R"({"b": 1})"}, {R"({"a": 1})", "{}"});
}

TEST(GrammarSchema, ReferencesAreResolved) {
  const auto grammar = schema(R"({
      "$id": "http://example.com/root.json",
      "$defs": {"a": {"$id": "other/a.json", "$anchor": "top",
                      "$defs": {"b": {"type": "boolean"}},
                      "items": {"$ref": "#/$defs/b"}},
                "c/d%": {"type": "null"}},
      "type": "object",
      "properties": {"x": {"$ref": "other/a.json#top"},
                     "y": {"$ref": "#/$defs/c~1d%25"},
                     "z": {"$ref": "http://example.com/other/a.json"}}})");
  EXPECT_TRUE(accepts(*grammar, R"({"x": [true], "y": null, "z": [false]})"));
  EXPECT_FALSE(accepts(*grammar, R"({"x": [1]})"));
  EXPECT_FALSE(accepts(*grammar, R"({"y": 1})"));
  EXPECT_FALSE(accepts(*grammar, R"({"z": [1]})"));
}

// RFC 4291, section 2.2: "::" stands for at least one group of eight.
TEST(GrammarSchema, Ipv6AddressesHaveEightGroups) {
  const auto grammar = schema(R"({"format": "ipv6", "type": "string"})");
  for (const char* address :
       {"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:1.2.3.4", "::", "::1",
        "1::", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1:2:3::5:6:7:8",
        "1:2:3:4:5::7:8", "1:2:3:4:5:6::8", "1:2:3:4:5::1.2.3.4"}) {
    EXPECT_TRUE(accepts(*grammar, std::string("\"") + address + "\""))
        << address;
  }
  for (const char* address :
       {"1:2:3:4:5:6::7:8", "1::2:3:4:5:6:7:8", "1:2:3:4:5:6:7::8",
        "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "1:2:3:4:5:6::1.2.3.4",
        "1::2::3", "1:2:3"}) {
    EXPECT_FALSE(accepts(*grammar, std::string("\"") + address + "\""))
        << address;
  }
}

}  // namespace
}  // namespace rc::text::grammar
