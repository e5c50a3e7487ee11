#include "text/chat/calls/call_schema.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"

namespace rc::text::chat {
namespace {

using Type = JsonValue::Type;

JsonValue text_value(std::string_view text) {
  return {.type = Type::kString, .text = std::string(text)};
}

JsonValue number(std::string_view digits) {
  return {.type = Type::kNumber, .text = std::string(digits)};
}

JsonValue object_of(std::vector<std::pair<std::string, JsonValue>> members) {
  return {.type = Type::kObject, .members = std::move(members)};
}

JsonValue array_of(std::vector<JsonValue> items) {
  return {.type = Type::kArray, .items = std::move(items)};
}

JsonValue any_object() { return object_of({{"type", text_value("object")}}); }

// Keywords by which a property may be allowed that "properties" does not name.
constexpr std::array<std::string_view, 14> kOpening = {"additionalProperties",
                                                       "patternProperties",
                                                       "unevaluatedProperties",
                                                       "allOf",
                                                       "anyOf",
                                                       "oneOf",
                                                       "not",
                                                       "if",
                                                       "$ref",
                                                       "$dynamicRef",
                                                       "dependentSchemas",
                                                       "dependencies",
                                                       "$recursiveRef",
                                                       "extends"};

bool only_names_properties(const JsonValue& schema) {
  return std::none_of(
      schema.members.begin(), schema.members.end(), [](const auto& member) {
        return std::find(kOpening.begin(), kOpening.end(), member.first) !=
               kOpening.end();
      });
}

// Returns the parameters of a tool as a part of another schema. They form a
// separate resource (JSON Schema 2020-12, section 8.2.1), so that references
// within them stay within them.
JsonValue arguments_schema(const JsonValue& function, size_t index,
                           const std::string& place) {
  const JsonValue* given = function.find_given("parameters");
  if (given == nullptr) {
    JsonValue none = any_object();
    none.members.emplace_back("additionalProperties",
                              JsonValue{.type = Type::kFalse});
    return none;
  }
  if (!given->is(Type::kObject)) {
    fail(RC_E_INVALID_ARGUMENT, place, ".parameters: ", type_name(*given),
         ", but it must be a JSON schema, an object");
  }
  JsonValue schema = *given;
  if (only_names_properties(schema)) {
    schema.members.emplace_back("additionalProperties",
                                JsonValue{.type = Type::kFalse});
  }
  if (schema.find("$id") == nullptr && schema.find("id") == nullptr) {
    const JsonValue* version = schema.find("$schema");
    const bool old = version != nullptr && version->is(Type::kString) &&
                     (version->text.find("draft-04") != std::string::npos ||
                      version->text.find("draft-03") != std::string::npos);
    schema.members.emplace_back(old ? "id" : "$id",
                                text_value(cat("urn:tool:", index)));
  }
  const JsonValue* type = schema.find("type");
  if (type != nullptr && type->is(Type::kString) && type->text == "object") {
    return schema;
  }
  JsonValue object = any_object();
  object.members.emplace_back("allOf", array_of({std::move(schema)}));
  return object;
}

// An object that has one member.
JsonValue member_schema(const std::string& name, JsonValue value) {
  JsonValue object = any_object();
  object.members.emplace_back("properties",
                              object_of({{name, std::move(value)}}));
  object.members.emplace_back("required", array_of({text_value(name)}));
  object.members.emplace_back("additionalProperties",
                              JsonValue{.type = Type::kFalse});
  return object;
}

}  // namespace

JsonValue call_schema(const JsonValue& tools, const ReplyFormat& format,
                      const std::function<bool(std::string_view)>& wanted,
                      const std::function<bool(const JsonValue&)>& exact) {
  const bool objects = format.shape == CallShape::kObjects;
  const std::string name_key(objects ? format.name_key : "name");
  const std::string arguments_key(objects ? format.arguments_key : "arguments");
  std::vector<JsonValue> calls;
  for (size_t i = 0; i < tools.items.size(); ++i) {
    const JsonValue& function = *tools.items[i].find("function");
    const std::string& name = function.find("name")->text;
    if (!wanted(name)) continue;
    const std::string place = cat("tools[", i, "].function");
    JsonValue arguments =
        exact(function) ? arguments_schema(function, i, place) : any_object();
    if (name_key.empty()) {
      calls.push_back(member_schema(name, std::move(arguments)));
      continue;
    }
    std::vector<std::pair<std::string, JsonValue>> properties = {
        {name_key, object_of({{"const", text_value(name)}})},
        {arguments_key, std::move(arguments)}};
    if (objects && format.written.array && format.id_key == "tool_call_id") {
      // Models of this format number their calls.
      properties.emplace_back(
          format.id_key, object_of({{"type", text_value("string")},
                                    {"pattern", text_value("^[0-9]{1,4}$")}}));
    }
    JsonValue call = any_object();
    call.members.emplace_back("properties", object_of(std::move(properties)));
    call.members.emplace_back(
        "required",
        array_of({text_value(name_key), text_value(arguments_key)}));
    call.members.emplace_back("additionalProperties",
                              JsonValue{.type = Type::kFalse});
    calls.push_back(std::move(call));
  }
  JsonValue any = object_of({{"anyOf", array_of(std::move(calls))}});
  if (!objects || !format.written.array) return any;
  return object_of({{"type", text_value("array")},
                    {"items", std::move(any)},
                    {"minItems", number("1")},
                    {"maxItems", number("1")}});
}

}  // namespace rc::text::chat
