#include "text/chat/calls/call_names.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cat.h"
#include "base/error.h"
#include "base/quote.h"
#include "text/chat/replies/call_parts.h"

namespace rc::text::chat {
namespace {

using Type = JsonValue::Type;

bool is_word_byte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
         (c >= 'a' && c <= 'z') || c == '_' || c == '-' || c == '.' ||
         static_cast<unsigned char>(c) >= 0x80;
}

void check_function(const std::string& name, const std::string& place) {
  for (const char c : name) {
    if (is_word_byte(c) || c == '/') continue;
    fail(RC_E_INVALID_ARGUMENT, place, ".name: ", quote(name),
         " can't be written by a model; use letters, digits, '_' and '-'");
  }
  if (!is_call_name(name)) {
    fail(RC_E_INVALID_ARGUMENT, place, ".name: ", name.size(),
         " bytes; the name of a function has 1 to 256");
  }
}

bool may_be_key(std::string_view name, CallShape shape) {
  if (name.empty() || name.front() == ' ' || name.back() == ' ') return false;
  if (shape == CallShape::kElements) {
    return name.front() != '/' && name.size() <= kLongestElementName &&
           std::all_of(name.begin(), name.end(), is_element_byte);
  }
  return std::all_of(name.begin(), name.end(), [&](char c) {
    return is_word_byte(c) || (shape == CallShape::kTags && c == ' ');
  });
}

// The keywords whose members, and whose value or items, are schemas.
constexpr std::array<std::string_view, 5> kOfMembers = {
    "properties", "patternProperties", "$defs", "definitions",
    "dependentSchemas"};
constexpr std::array<std::string_view, 9> kOfValues = {
    "items", "prefixItems", "additionalProperties",
    "allOf", "anyOf",       "oneOf",
    "if",    "then",        "else"};

struct Place {
  const JsonValue* schema;
  std::string path;
};

// Adds the schemas that stand within one.
void add_inner(const Place& outer, std::vector<Place>* to) {
  for (const auto& [keyword, value] : outer.schema->members) {
    const std::string path = cat(outer.path, ".", keyword);
    const bool members = std::find(kOfMembers.begin(), kOfMembers.end(),
                                   keyword) != kOfMembers.end();
    if (members && value.is(Type::kObject)) {
      for (const auto& [name, schema] : value.members) {
        to->push_back({&schema, cat(path, ".", name)});
      }
    }
    if (std::find(kOfValues.begin(), kOfValues.end(), keyword) ==
        kOfValues.end()) {
      continue;
    }
    to->push_back({&value, path});
    for (size_t i = 0; i < value.items.size(); ++i) {
      to->push_back({&value.items[i], cat(path, "[", i, "]")});
    }
  }
}

void check_properties(const Place& place, CallShape shape) {
  const JsonValue* properties = place.schema->find_given("properties");
  if (properties == nullptr) return;
  for (const auto& [name, schema] : properties->members) {
    if (may_be_key(name, shape)) continue;
    fail(RC_E_INVALID_ARGUMENT, place.path, ".properties: ", quote(name),
         " is no name that this model's format of calls can "
         "write; use letters, digits, '_' and '-'");
  }
}

}  // namespace

bool is_element_byte(char c) {
  constexpr std::string_view kOthers = "<>\"\\";
  return static_cast<unsigned char>(c) >= 0x20 && c != '\x7F' &&
         kOthers.find(c) == kOthers.npos;
}

void check_call_names(const JsonValue& function, CallShape shape,
                      const std::string& place) {
  if (shape == CallShape::kObjects) return;
  check_function(function.find("name")->text, place);
  if (shape == CallShape::kNamed) return;
  const JsonValue* parameters = function.find_given("parameters");
  if (parameters == nullptr) return;
  const bool inner =
      shape == CallShape::kGemma || shape == CallShape::kElements;
  std::vector<Place> open = {{parameters, cat(place, ".parameters")}};
  while (!open.empty()) {
    const Place next = std::move(open.back());
    open.pop_back();
    check_properties(next, shape);
    if (inner) add_inner(next, &open);
  }
}

}  // namespace rc::text::chat
