// The types of arguments that are written without quotes.
#include <string>
#include <vector>

#include "text/chat/loose_json.h"
#include "text/chat/replies/tool_types.h"
#include "text/chat/reply_util.h"

namespace rc::text::chat {
namespace {

struct ValueCase {
  std::string schema;
  std::string written;
  std::string json;
};

ToolTypes tool_with(const std::string& parameters) {
  return ToolTypes(parse_argument(
      R"([{"type": "function", "function": {"name": "f", "parameters": )" +
          parameters + "}}]",
      "tools"));
}

void expect_values(const std::vector<ValueCase>& cases,
                   const ValueStyle& style) {
  for (const ValueCase& one : cases) {
    const ToolTypes tools = tool_with(
        R"({"type": "object", "properties": {"a": )" + one.schema +
        R"(}, "$defs": {"S": {"type": "string"}, "N": {"type": "integer"},)"
        R"( "deep/er": [{"$ref": "#/$defs/S"}], "loop": {"anyOf":)"
        R"( [{"$ref": "#/$defs/loop"}, {"type": "string"}]}}})");
    EXPECT_EQ(argument_json(tools.type("f", "a"), one.written, style), one.json)
        << one.schema << ": " << one.written;
  }
}

TEST(ToolTypes, StringsStayStrings) {
  const std::vector<std::string> schemas = {
      R"({"type": "string"})",
      R"({"type": ["string"]})",
      R"({"type": ["string", "null"]})",
      R"({"type": "string", "nullable": true})",
      R"({"anyOf": [{"type": "string"}, {"type": "null"}]})",
      R"({"oneOf": [{"type": "null"}, {"type": "string"}]})",
      R"({"allOf": [{"type": ["string", "integer"]}, {"type": "string"}]})",
      R"({"type": "STRING"})",
      R"({"type": "str"})",
      R"({"minLength": 0})",
      R"({"$ref": "#/$defs/S"})",
      R"({"$ref": "#/$defs/deep~1er/0"})",
      R"({"anyOf": [{"$ref": "#/$defs/S"}, {"type": "null"}]})"};
  for (const std::string& schema : schemas) {
    for (const bool python : {false, true}) {
      expect_values({{schema, "7", R"("7")"},
                     {schema, "true", R"("true")"},
                     {schema, "True", R"("True")"},
                     {schema, "[1]", R"("[1]")"},
                     {schema, "\"q\"", R"("\"q\"")"},
                     {schema, " x\n", R"(" x\n")"},
                     {schema, "", R"("")"}},
                    {.python = python});
    }
  }
}

TEST(ToolTypes, EnumeratedValuesAreMatched) {
  expect_values(
      {{R"({"enum": ["1", "x"]})", "1", R"("1")"},
       {R"({"enum": ["1", 1]})", "1", R"("1")"},
       {R"({"enum": [1, "x"]})", "1", "1"},
       {R"({"enum": ["a", null]})", "None", "null"},
       {R"({"enum": [true, "yes"]})", "True", "true"},
       {R"({"enum": ["null", null]})", "null", R"("null")"},
       {R"({"enum": ["x"]})", "\"x\"", R"("x")"},
       {R"({"enum": ["x"]})", " x\n", R"("x")"},
       {R"({"const": "7"})", "7", R"("7")"},
       {R"({"const": 7})", "7", "7"},
       {R"({"anyOf": [{"const": "7"}, {"enum": ["8"]}]})", "8", R"("8")"}},
      {});
}

TEST(ToolTypes, OtherValuesHaveTheTypeOfTheSchema) {
  const std::vector<ValueCase> cases = {
      {R"({"type": "boolean"})", "True", "true"},
      {R"({"type": "boolean"})", "false", "false"},
      {R"({"type": "null"})", "None", "null"},
      {R"({"anyOf": [{"type": "integer"}, {"type": "null"}]})", "None", "null"},
      {R"({"type": ["integer", "null"]})", "", "null"},
      {R"({"type": "integer"})", "18446744073709551616",
       "18446744073709551616"},
      {R"({"type": "number"})", "1e400", "1e400"},
      {R"({"type": "integer"})", "\"7\"", "7"},
      {R"({"$ref": "#/$defs/N"})", " 7 ", "7"},
      {R"({"type": "array"})", "['a', True, None, 1.5]",
       R"(["a",true,null,1.5])"},
      {R"({"type": "object"})", "{'a': {'b': \"it's\"}}",
       R"({"a":{"b":"it's"}})"},
      {R"({"type": "array"})", "[\"a\nb\"]", R"(["a\nb"])"},
      {R"({"type": "array"})", R"(['\xe9\u6f22\U0001F600\ud83d\ude00\''])",
       "[\"é漢😀😀'\"]"},
      {R"({"type": "integer"})", "many", R"("many")"},
      {R"({"type": ["string", "integer"]})", "7", "7"},
      {R"({"type": ["string", "integer"]})", "[7]", R"("[7]")"},
      {R"({"type": ["string", "object"]})", R"({"a": 1})", R"({"a": 1})"},
      // Nothing is declared.
      {"{}", "7", "7"},
      {"true", "text", R"("text")"},
      {R"({"$ref": "elsewhere.json"})", "7", "7"}};
  expect_values(cases, {});
  expect_values(cases, {.python = true});
  expect_values({{"{}", "True", R"("True")"}}, {});
  expect_values({{"{}", "True", "true"},
                 {"{}", "['a']", R"(["a"])"},
                 {R"({"type": ["string", "null"]})", "None", "null"}},
                {.python = true});
  expect_values({{R"({"type": ["string", "null"]})", "None", R"("None")"},
                 {R"({"type": ["string", "null"]})", "null", "null"}},
                {});
}

TEST(ToolTypes, TypeOfTheFormatIsUsedIfTheSchemaAllowsIt) {
  using Said = ValueStyle::Said;
  expect_values({{"{}", "7", R"("7")"},
                 {R"({"type": ["string", "integer"]})", "7", R"("7")"},
                 {R"({"type": "integer"})", "7", "7"}},
                {.said = Said::kString});
  expect_values({{"{}", "7", "7"},
                 {R"({"type": "string"})", "7", R"("7")"},
                 {R"({"type": "string"})", "\"7\"", R"("7")"},
                 {R"({"type": ["string", "null"]})", "null", "null"}},
                {.said = Said::kJson});
}

TEST(ToolTypes, ArgumentsAreFoundAnywhereInTheSchema) {
  for (const std::string parameters :
       {R"({"allOf": [{"properties": {"a": {"type": "string"}}}]})",
        R"({"anyOf": [{"properties": {"a": {"type": "string"}}}, {}]})",
        R"({"$ref": "#/$defs/P", "$defs": {"P": {"properties":
           {"a": {"type": "string"}}}}})",
        R"({"if": {}, "then": {"properties": {"a": {"type": "string"}}}})",
        R"({"additionalProperties": {"type": "string"}})"}) {
    EXPECT_EQ(argument_json(tool_with(parameters).type("f", "a"), "7", {}),
              R"("7")")
        << parameters;
  }
  const ToolTypes tools = tool_with("{}");
  EXPECT_TRUE(tools.offers("f"));
  EXPECT_FALSE(tools.offers("g"));
  EXPECT_EQ(argument_json(tools.type("g", "a"), "7", {}), "7");
}

// References that multiply or go round end.
TEST(ToolTypes, SchemasOfAnyShapeAreRead) {
  std::string parameters = R"({"properties": {"a": {"$ref": "#/$defs/d0"},)"
                           R"( "b": {"$ref": "#/$defs/loop"}}, "$defs": {)"
                           R"("loop": {"$ref": "#/$defs/loop"})";
  for (int i = 0; i < 60; ++i) {
    const std::string next =
        "{\"$ref\": \"#/$defs/d" + std::to_string(i + 1) + "\"}";
    parameters += ", \"d" + std::to_string(i) + "\": {\"anyOf\": [" + next +
                  ", " + next + "]}";
  }
  const ToolTypes tools = tool_with(parameters + "}}");
  EXPECT_EQ(argument_json(tools.type("f", "a"), "7", {}), "7");
  EXPECT_EQ(argument_json(tools.type("f", "b"), "7", {}), "7");
  for (const std::string odd :
       {"7", "[]", R"({"properties": 7})", R"({"properties": {"a": 7}})",
        R"({"properties": {"a": {"type": 7, "enum": 7, "anyOf": 7}}})",
        R"({"properties": {"a": {"anyOf": []}}})",
        R"({"properties": {"a": {"type": "string", "const": 7}}})",
        R"({"properties": {"a": {"type": ["strange"]}}})"}) {
    EXPECT_EQ(argument_json(tool_with(odd).type("f", "a"), "7", {}), "7")
        << odd;
  }
}

TEST(LooseJson, ReadsTheJsonOfModels) {
  const auto text = [](std::string_view json) {
    const auto value = read_loose_json(json);
    return value ? json_text(*value) : "none";
  };
  EXPECT_EQ(text(" {\"a\": [1e400, -0, 1.50]} \n"), R"({"a":[1e400,-0,1.50]})");
  EXPECT_EQ(text(R"("\ud83d\ude00 \ud83d \ude00 \ud83dx \/\b")"),
            "\"😀 \uFFFD \uFFFD \uFFFDx /\\b\"");
  EXPECT_EQ(text("\"a\nb\x01\""), R"("a\nb\u0001")");
  EXPECT_EQ(text(R"({"a": 1, "b": 2, "a": 3})"), R"({"a":3,"b":2})");
  EXPECT_EQ(text("null"), "null");
  for (const char* wrong :
       {"",      " ",   "{",       "[1,]",      "{\"a\" 1}",   "{a: 1}",
        "01",    "1.",  ".5",      "1e",        "-",           "+1",
        "tru",   "\"",  "\"\\x\"", "\"\\u12\"", "\"\\u123g\"", "1 2",
        "{} {}", "[1}", "nul",     "NaN",       "'a'"}) {
    EXPECT_EQ(text(wrong), "none") << wrong;
  }
  const auto nested = [&](size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  EXPECT_NE(text(nested(kDeepestJson)), "none");
  EXPECT_EQ(text(nested(kDeepestJson + 1)), "none");
}

TEST(LooseJson, ControlCharactersAreEscaped) {
  EXPECT_EQ(with_escaped_controls("{\n\"a\\\"\n\": \"\t\x1f\\\\\"\n}"),
            "{\n\"a\\\"\\n\": \"\\t\\u001f\\\\\"\n}");
}

}  // namespace
}  // namespace rc::text::chat
