#include "text/chat/replies/argument_schemas.h"

#include <algorithm>
#include <array>
#include <utility>

namespace rc::text::chat {
namespace {

using Type = JsonValue::Type;
using Bit = ArgumentType::Bit;

// Schemas within each other, references followed.
constexpr int kDeepestSchema = 24;
// Schemas that are read for one tool.
constexpr size_t kMostSchemas = 20000;
// Schemas about one value.
constexpr size_t kMostParts = 256;

struct TypeName {
  std::string_view name;
  unsigned char bits;
};

// Python's names are no types of JSON Schema, but people write them.
constexpr auto kTypeNames = std::to_array<TypeName>({
    {"null", Bit::kNull},
    {"boolean", Bit::kBoolean},
    {"bool", Bit::kBoolean},
    {"integer", Bit::kInteger},
    {"int", Bit::kInteger},
    {"number", Bit::kInteger | Bit::kFraction},
    {"float", Bit::kInteger | Bit::kFraction},
    {"string", Bit::kString},
    {"str", Bit::kString},
    {"array", Bit::kArray},
    {"list", Bit::kArray},
    {"object", Bit::kObject},
    {"dict", Bit::kObject},
});

unsigned char bits_of_name(std::string_view name) {
  for (const TypeName& known : kTypeNames) {
    // Some programs write them in capitals.
    if (std::equal(name.begin(), name.end(), known.name.begin(),
                   known.name.end(),
                   [](char a, char b) { return (a | 0x20) == b; })) {
      return known.bits;
    }
  }
  return Bit::kAny;
}

ArgumentType both(ArgumentType a, const ArgumentType& b) {
  a.bits &= b.bits;
  if (b.closed && !a.closed) {
    a.closed = true;
    a.values = b.values;
  }
  return a;
}

ArgumentType of_values(const std::vector<JsonValue>& values) {
  ArgumentType type{.bits = 0, .closed = true, .values = values};
  for (const JsonValue& value : values) type.bits |= type_of(value);
  return type;
}

// The schema at a JSON pointer (RFC 6901) of the document, as "#/$defs/S";
// nullptr if it is elsewhere.
const JsonValue* resolve(const JsonValue& root, std::string_view reference) {
  if (!reference.starts_with('#')) return nullptr;
  reference.remove_prefix(1);
  const JsonValue* place = &root;
  while (!reference.empty() && place != nullptr) {
    if (reference[0] != '/') return nullptr;
    reference.remove_prefix(1);
    std::string name;
    while (!reference.empty() && reference[0] != '/') {
      const bool escaped =
          reference.starts_with("~0") || reference.starts_with("~1");
      name += !escaped ? reference[0] : reference[1] == '0' ? '~' : '/';
      reference.remove_prefix(escaped ? 2 : 1);
    }
    if (place->is(Type::kArray)) {
      size_t index = 0;
      for (const char c : name) {
        if (c < '0' || c > '9' || index > place->items.size()) return nullptr;
        index = index * 10 + static_cast<size_t>(c - '0');
      }
      place = index < place->items.size() ? &place->items[index] : nullptr;
    } else {
      place = place->find(name);
    }
  }
  return place;
}

// Without a type these keywords are meant for strings.
bool is_about_text(const JsonValue& schema) {
  return schema.find("pattern") != nullptr ||
         schema.find("minLength") != nullptr ||
         schema.find("maxLength") != nullptr;
}

unsigned char bits_of(const JsonValue& type) {
  if (type.is(Type::kString)) return bits_of_name(type.text);
  if (!type.is(Type::kArray)) return Bit::kAny;
  unsigned char bits = 0;
  for (const JsonValue& name : type.items) bits |= bits_of_name(name.text);
  return bits;
}

const JsonValue* list(const JsonValue& schema, const char* keyword) {
  const JsonValue* found = schema.find(keyword);
  return found != nullptr && found->is(Type::kArray) ? found : nullptr;
}

void add_once(const JsonValue* schema, std::vector<const JsonValue*>* to) {
  if (to->size() < kMostParts &&
      std::find(to->begin(), to->end(), schema) == to->end()) {
    to->push_back(schema);
  }
}

}  // namespace

ArgumentType either_type(ArgumentType a, const ArgumentType& b) {
  a.bits |= b.bits;
  a.closed = a.closed && b.closed;
  if (a.closed) {
    a.values.insert(a.values.end(), b.values.begin(), b.values.end());
  } else {
    a.values.clear();
  }
  return a;
}

ArgumentType ArgumentSchemas::type(const JsonValue& schema, int depth) const {
  ArgumentType result;
  if (!may_read(schema, depth)) return result;
  if (const JsonValue* named = schema.find("type")) {
    result.bits = bits_of(*named);
  } else if (is_about_text(schema)) {
    result.bits = Bit::kString;
  }
  if (const JsonValue* values = list(schema, "enum")) {
    result = both(std::move(result), of_values(values->items));
  }
  if (const JsonValue* value = schema.find("const")) {
    result = both(std::move(result), of_values({*value}));
  }
  if (const JsonValue* target = reference(schema)) {
    result = both(std::move(result), type(*target, depth + 1));
  }
  if (const JsonValue* all = list(schema, "allOf")) {
    for (const JsonValue& part : all->items) {
      result = both(std::move(result), type(part, depth + 1));
    }
  }
  for (const char* keyword : {"anyOf", "oneOf"}) {
    const JsonValue* choices = list(schema, keyword);
    if (choices == nullptr || choices->items.empty()) continue;
    ArgumentType any{.bits = 0, .closed = true};
    for (const JsonValue& choice : choices->items) {
      any = either_type(std::move(any), type(choice, depth + 1));
    }
    result = both(std::move(result), any);
  }
  // OpenAPI 3.0 writes it so.
  const JsonValue* nullable = schema.find("nullable");
  if (nullable != nullptr && nullable->is(Type::kTrue)) {
    result.bits |= Bit::kNull;
  }
  // A contradiction says nothing.
  return result.bits == 0 ? ArgumentType() : result;
}

void ArgumentSchemas::add_arguments(const JsonValue& schema, int depth,
                                    ToolTypes::Arguments* arguments) const {
  if (!may_read(schema, depth)) return;
  if (const JsonValue* properties = schema.find("properties")) {
    for (const auto& [name, property] : properties->members) {
      ArgumentType found = type(property, 0);
      const auto [place, added] = arguments->named.try_emplace(name, found);
      if (!added && place->second != found) {
        place->second = either_type(std::move(place->second), found);
      }
    }
  }
  const JsonValue* others = schema.find("additionalProperties");
  if (others != nullptr && others->is(Type::kObject)) {
    arguments->others = type(*others, 0);
  }
  if (const JsonValue* target = reference(schema)) {
    add_arguments(*target, depth + 1, arguments);
  }
  for (const char* keyword : {"allOf", "anyOf", "oneOf"}) {
    const JsonValue* parts = list(schema, keyword);
    if (parts == nullptr) continue;
    for (const JsonValue& part : parts->items) {
      add_arguments(part, depth + 1, arguments);
    }
  }
  for (const char* keyword : {"then", "else"}) {
    if (const JsonValue* part = schema.find(keyword)) {
      add_arguments(*part, depth + 1, arguments);
    }
  }
}

void ArgumentSchemas::add_parts(const JsonValue& schema, int depth,
                                Schemas* parts) const {
  if (!may_read(schema, depth)) return;
  add_once(&schema, parts);
  if (const JsonValue* target = reference(schema)) {
    add_parts(*target, depth + 1, parts);
  }
  for (const char* keyword : {"allOf", "anyOf", "oneOf"}) {
    const JsonValue* found = list(schema, keyword);
    if (found == nullptr) continue;
    for (const JsonValue& part : found->items) {
      add_parts(part, depth + 1, parts);
    }
  }
  for (const char* keyword : {"then", "else"}) {
    if (const JsonValue* part = schema.find(keyword)) {
      add_parts(*part, depth + 1, parts);
    }
  }
}

ArgumentSchemas::Schemas ArgumentSchemas::parts(const Schemas& schemas) const {
  Schemas parts;
  for (const JsonValue* schema : schemas) add_parts(*schema, 0, &parts);
  return parts;
}

ArgumentSchemas::Schemas ArgumentSchemas::members(const Schemas& schemas,
                                                  std::string_view name) const {
  Schemas named, others;
  for (const JsonValue* part : parts(schemas)) {
    if (const JsonValue* properties = part->find("properties")) {
      if (const JsonValue* found = properties->find(name)) {
        add_once(found, &named);
      }
    }
    const JsonValue* rest = part->find("additionalProperties");
    if (rest != nullptr && rest->is(Type::kObject)) add_once(rest, &others);
  }
  return named.empty() ? others : named;
}

ArgumentSchemas::Schemas ArgumentSchemas::items(const Schemas& schemas,
                                                size_t index) const {
  Schemas found;
  for (const JsonValue* part : parts(schemas)) {
    const JsonValue* first = list(*part, "prefixItems");
    // Before 2020-12.
    if (first == nullptr) first = list(*part, "items");
    const JsonValue* rest = part->find("items");
    if (rest != nullptr && rest->is(Type::kArray)) {
      rest = part->find("additionalItems");
    }
    if (first != nullptr && index < first->items.size()) {
      add_once(&first->items[index], &found);
    } else if (rest != nullptr && rest->is(Type::kObject)) {
      add_once(rest, &found);
    }
  }
  return found;
}

const JsonValue* ArgumentSchemas::reference(const JsonValue& schema) const {
  const JsonValue* found = schema.find("$ref");
  if (found == nullptr || !found->is(Type::kString)) return nullptr;
  return resolve(root_, found->text);
}

// References may multiply: what is beyond the limit says nothing.
bool ArgumentSchemas::may_read(const JsonValue& schema, int depth) const {
  return schema.is(Type::kObject) && depth <= kDeepestSchema &&
         ++read_ <= kMostSchemas;
}

}  // namespace rc::text::chat
