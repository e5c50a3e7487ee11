// Calls of tools that are made by chance, for tests.
#pragma once

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "text/chat/prompt_util.h"

namespace rc::text::chat {

inline JsonValue text_value(std::string_view text) {
  return {.type = JsonValue::Type::kString, .text = std::string(text)};
}

// Schemas and values that they allow.
class CallMaker {
 public:
  // `separators`: texts may have U+2028, where the filter indent begins a line.
  // `elements`: schemas say the types of all values, and none is null, for
  // formats that write no quotes around texts within lists, and leave out null.
  explicit CallMaker(uint32_t seed, bool separators = true,
                     bool elements = false)
      : random_(seed), separators_(separators), elements_(elements) {}

  // A tool, and a call of it as JSON text.
  struct Made {
    Json tools;
    std::string name;
    JsonValue arguments;
  };

  Made make() {
    static const std::vector<std::string> kNames = {"f", "get_weather", "a-b"};
    static const std::vector<std::string> kKeys = {"city", "text", "n",
                                                   "some_key", "schlüssel"};
    Made made;
    made.name = kNames[below(kNames.size())];
    made.arguments.type = JsonValue::Type::kObject;
    Json properties = Json::object();
    for (size_t i = below(4); i > 0; --i) {
      const std::string key = kKeys[below(kKeys.size())];
      if (properties.contains(key)) continue;
      Json schema;
      made.arguments.members.emplace_back(key, argument(&schema));
      schema["description"] = "An argument.";
      properties[key] = schema;
    }
    made.tools =
        Json::array({{{"type", "function"},
                      {"function",
                       {{"name", made.name},
                        {"description", "A tool."},
                        {"parameters",
                         {{"type", "object"},
                          {"properties", properties},
                          {"required", Json::array()},
                          {"$defs", {{"text", {{"type", "string"}}}}}}}}}}});
    return made;
  }

 private:
  size_t below(size_t limit) { return random_() % limit; }

  // Members of a union have no separate type, as people write it.
  JsonValue argument(Json* schema) {
    switch (below(10)) {
      case 0:
        *schema = {{"$ref", "#/$defs/text"}};
        return text();
      case 1:
        *schema = {{"anyOf", {{{"type", "string"}}, {{"type", "null"}}}}};
        return below(3) == 0 && !elements_ ? JsonValue() : text_but_null();
      case 2:
        *schema = {{"type", {"string", "null"}}};
        return below(3) == 0 && !elements_ ? JsonValue() : text_but_null();
      case 3:
        *schema = {{"enum", {"1", "true", " x\n", "[]"}}};
        return {.type = JsonValue::Type::kString,
                .text = (*schema)["enum"][below(4)].get<std::string>()};
      case 4:
        *schema = {{"oneOf", {{{"type", "integer"}}, {{"type", "boolean"}}}}};
        return below(2) == 0 ? integer() : boolean();
      default:
        return value(schema, 0);
    }
  }

  JsonValue value(Json* schema, int depth) {
    switch (below(depth < 3 ? 8 : 5)) {
      case 0:
        *schema = {{"type", "integer"}};
        return integer();
      case 1:
        *schema = {{"type", "number"}};
        return number();
      case 2:
        *schema = {{"type", "boolean"}};
        return boolean();
      case 5: {
        *schema = {{"type", "array"}};
        JsonValue list{.type = JsonValue::Type::kArray};
        Json items = Json::array();
        for (size_t i = below(4); i > 0; --i) {
          Json item;
          list.items.push_back(value(&item, depth + 1));
          items.push_back(item);
        }
        if (elements_ && !items.empty()) (*schema)["prefixItems"] = items;
        return list;
      }
      case 6: {
        *schema = {{"type", "object"}};
        JsonValue object{.type = JsonValue::Type::kObject};
        Json properties = Json::object();
        for (size_t i = 0; i < below(4); ++i) {
          const std::string key = "k" + std::to_string(i);
          Json member;
          object.members.emplace_back(key, value(&member, depth + 1));
          properties[key] = member;
        }
        if (elements_) (*schema)["properties"] = properties;
        return object;
      }
      case 7:
        if (depth > 0 && !elements_) return {};
        [[fallthrough]];
      default:
        *schema = {{"type", "string"}};
        return text();
    }
  }

  JsonValue one_of(JsonValue::Type type, std::vector<std::string> texts) {
    return {.type = type, .text = texts[below(texts.size())]};
  }
  JsonValue integer() {
    return one_of(JsonValue::Type::kNumber,
                  {"0", "7", "-12", "9007199254740993", "9223372036854775807",
                   "18446744073709551616"});
  }
  JsonValue number() {
    return one_of(JsonValue::Type::kNumber,
                  {"0.5", "-2.25", "3", "1e-07", "2.5e+20", "1e400"});
  }
  JsonValue boolean() {
    return {.type = below(2) == 0 ? JsonValue::Type::kTrue
                                  : JsonValue::Type::kFalse};
  }

  JsonValue text() {
    static const std::vector<std::string> kWords = {
        "true", "None", "null", "12", "1e5", "[1]", "{\"a\": 1}", "\"q\"", ""};
    static const std::vector<std::string> kParts = {
        "a", "B", "7", " ",   "\n",     "\t",     "\"",     "'",    "\\", "<",
        ">", "&", "{", "}",   "[",      "]",      ",",      ":",    "é",  "漢",
        "😀", "/", "`", "\\n", "\u00a0", "\u2028", "\u200b", "\x01", "\r"};
    JsonValue result{.type = JsonValue::Type::kString};
    if (below(4) == 0) {
      result.text = kWords[below(kWords.size())];
      return result;
    }
    for (size_t i = below(10); i > 0; --i) {
      const std::string& part = kParts[below(kParts.size())];
      if (separators_ || part != "\u2028") result.text += part;
    }
    return result;
  }

  // A text that no format could mean null by.
  JsonValue text_but_null() {
    JsonValue result = text();
    if (result.text == "null" || result.text == "None") result.text += "?";
    return result;
  }

  std::mt19937 random_;
  const bool separators_;
  const bool elements_;
};

}  // namespace rc::text::chat
