// References whose target depends on the way that led to them: $dynamicRef of
// JSON Schema 2020-12 and $recursiveRef of 2019-09.
#include <string>
#include <vector>

#include "text/grammar/grammar_util.h"

namespace rc::text::grammar {
namespace {

void expect(const std::string& text, const std::vector<const char*>& valid,
            const std::vector<const char*>& invalid) {
  SCOPED_TRACE(text);
  for (const bool closed : {false, true}) {
    JsonOptions options;
    options.reader.closed = closed;
    const auto grammar =
        Grammar::json_schema(text, options, small_vocabulary());
    for (const char* one : valid) EXPECT_TRUE(accepts(*grammar, one)) << one;
    for (const char* one : invalid) EXPECT_FALSE(accepts(*grammar, one)) << one;
  }
}

// A list whose items are what the schema says that refers to it.
constexpr const char* kLists = R"({"$id": "https://a.b/root",
  "type": "object", "properties": {"words": {"$ref": "words"},
                                   "numbers": {"$ref": "numbers"},
                                   "any": {"$ref": "list"}},
  "additionalProperties": false,
  "$defs": {
    "list": {"$id": "list", "type": "array", "items": {"$dynamicRef": "#item"},
             "$defs": {"item": {"$dynamicAnchor": "item"}}},
    "words": {"$id": "words", "$ref": "list",
              "$defs": {"item": {"$dynamicAnchor": "item", "type": "string"}}},
    "numbers": {"$id": "numbers", "$ref": "list",
                "$defs": {"item": {"$dynamicAnchor": "item",
                                   "type": "number"}}}}})";

TEST(DynamicReferences, ResolveToTheOutermostAnchor) {
  expect(kLists,
         {R"({"words": ["a"], "numbers": [1], "any": [1, "a", null]})", "{}"},
         {R"({"words": [1]})", R"({"numbers": ["a"]})"});
}

// A tree that is extended: its branches are as the extension says.
TEST(DynamicReferences, ExtendRecursiveSchemas) {
  expect(R"({"$id": "https://a.b/strict", "$dynamicAnchor": "node",
    "$ref": "tree", "unevaluatedProperties": false, "$defs": {
      "tree": {"$id": "tree", "$dynamicAnchor": "node", "type": "object",
               "properties": {"data": {"type": "integer"},
                              "branches": {"type": "array", "items":
                                {"$dynamicRef": "#node"}}}}}})",
         {R"({"branches": [{"data": 1}, {"branches": []}]})"},
         {R"({"branches": [{"daat": 1}]})", R"({"daat": 1})",
          R"({"branches": [{"branches": [{"data": "1"}]}]})"});
}

TEST(DynamicReferences, AreStaticWithoutADynamicAnchor) {
  expect(R"({"$id": "https://a.b/root", "$ref": "outer", "$defs": {
      "outer": {"$id": "outer", "$ref": "inner", "$defs": {
        "x": {"$dynamicAnchor": "x", "type": "string"}}},
      "other": {"$id": "other", "$dynamicAnchor": "x"},
      "inner": {"$id": "inner", "type": "array", "items":
          {"$dynamicRef": "#x"}, "$defs": {"x": {"$anchor": "x", "type":
          "integer"}}}}})",
         {"[1]"}, {"[\"a\"]"});
}

// Within one resource nothing depends on the way.
TEST(DynamicReferences, ResolveWithinOneResource) {
  expect(R"({"type": "object", "properties": {"next": {"$dynamicRef": "#me"}},
             "$dynamicAnchor": "me", "additionalProperties": false})",
         {R"({"next": {"next": {}}})"}, {R"({"next": {"other": {}}})", "[]"});
}

TEST(RecursiveReferences, ResolveToTheOutermostAnchor) {
  const std::string tree =
      R"({"$id": "tree", "$recursiveAnchor": ANCHOR, "type": "object",
          "properties": {"left": {"$recursiveRef": "#"},
                         "n": {"type": "integer"}}})";
  const auto strict = [&](const std::string& inner, const std::string& outer) {
    std::string text = tree;
    text.replace(text.find("ANCHOR"), 6, inner);
    return R"({"$schema": "https://json-schema.org/draft/2019-09/schema",
               "$id": "https://a.b/strict", "$recursiveAnchor": )" +
           outer + R"(, "$ref": "tree", "unevaluatedProperties": false,
               "$defs": {"tree": )" +
           text + "}}";
  };
  expect(strict("true", "true"), {R"({"left": {"n": 1}})"},
         {R"({"left": {"m": 1}})", R"({"m": 1})"});
  const JsonOptions open;
  const auto allows = [&](const std::string& text, const char* instance) {
    return accepts(*Grammar::json_schema(text, open, small_vocabulary()),
                   instance);
  };
  for (const auto& [inner, outer] :
       std::vector<std::pair<const char*, const char*>>{
           {"true", "false"}, {"false", "true"}, {"false", "false"}}) {
    EXPECT_TRUE(allows(strict(inner, outer), R"({"left": {"m": 1}})"));
    EXPECT_FALSE(allows(strict(inner, outer), R"({"m": 1})"));
    EXPECT_FALSE(allows(strict(inner, outer), R"({"left": {"n": "1"}})"));
  }
}

// Ways multiply: those beyond the limit are refused.
TEST(DynamicReferences, TooManyPathsAreRefused) {
  constexpr int kAnchors = 12;
  nlohmann::json root = {{"$id", "https://a.b/root"}, {"$ref", "l0"}};
  nlohmann::json end = {{"$id", "end"}};
  for (int i = 0; i < kAnchors; ++i) {
    const std::string name = "x" + std::to_string(i);
    const std::string next =
        i + 1 < kAnchors ? "l" + std::to_string(i + 1) : std::string("end");
    const std::string level = "l" + std::to_string(i);
    root["$defs"][level] = {
        {"$id", level}, {"anyOf", {{{"$ref", next}}, {{"$ref", "y" + level}}}}};
    root["$defs"]["y" + level] = {
        {"$id", "y" + level},
        {"$ref", next},
        {"$defs", {{"a", {{"$dynamicAnchor", name}, {"type", "string"}}}}}};
    end["$defs"][name] = {{"$dynamicAnchor", name}};
    end["allOf"].push_back({{"$dynamicRef", "#" + name}});
  }
  root["$defs"]["end"] = end;
  const std::string message = message_of(
      [&] { Grammar::json_schema(root.dump(), {}, small_vocabulary()); });
  EXPECT_NE(message.find("more than 256 ways"), std::string::npos) << message;
}

}  // namespace
}  // namespace rc::text::grammar
