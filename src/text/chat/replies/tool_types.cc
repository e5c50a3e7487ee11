#include "text/chat/replies/tool_types.h"

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

ArgumentType either(ArgumentType a, const ArgumentType& b) {
  a.bits |= b.bits;
  a.closed = a.closed && b.closed;
  if (a.closed) {
    a.values.insert(a.values.end(), b.values.begin(), b.values.end());
  } else {
    a.values.clear();
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

// Reads the parameters of one tool.
class SchemaReader {
 public:
  explicit SchemaReader(const JsonValue& root) : root_(root) {}

  ArgumentType type(const JsonValue& schema, int depth) const {
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
        any = either(std::move(any), type(choice, depth + 1));
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

  // Adds the arguments that a schema names, and those of its parts.
  void add_arguments(const JsonValue& schema, int depth,
                     ToolTypes::Arguments* arguments) const {
    if (!may_read(schema, depth)) return;
    if (const JsonValue* properties = schema.find("properties")) {
      for (const auto& [name, property] : properties->members) {
        ArgumentType found = type(property, 0);
        const auto [place, added] = arguments->named.try_emplace(name, found);
        if (!added && place->second != found) {
          place->second = either(std::move(place->second), found);
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

 private:
  static const JsonValue* list(const JsonValue& schema, const char* keyword) {
    const JsonValue* found = schema.find(keyword);
    return found != nullptr && found->is(Type::kArray) ? found : nullptr;
  }

  // Without a type these keywords are meant for strings.
  static bool is_about_text(const JsonValue& schema) {
    return schema.find("pattern") != nullptr ||
           schema.find("minLength") != nullptr ||
           schema.find("maxLength") != nullptr;
  }

  static unsigned char bits_of(const JsonValue& type) {
    if (type.is(Type::kString)) return bits_of_name(type.text);
    if (!type.is(Type::kArray)) return Bit::kAny;
    unsigned char bits = 0;
    for (const JsonValue& name : type.items) bits |= bits_of_name(name.text);
    return bits;
  }

  const JsonValue* reference(const JsonValue& schema) const {
    const JsonValue* found = schema.find("$ref");
    if (found == nullptr || !found->is(Type::kString)) return nullptr;
    return resolve(root_, found->text);
  }

  // References may multiply: what is beyond the limit says nothing.
  bool may_read(const JsonValue& schema, int depth) const {
    return schema.is(Type::kObject) && depth <= kDeepestSchema &&
           ++read_ <= kMostSchemas;
  }

  const JsonValue& root_;
  mutable size_t read_ = 0;
};

}  // namespace

Bit type_of(const JsonValue& value) {
  switch (value.type) {
    case Type::kNull:
      return Bit::kNull;
    case Type::kFalse:
    case Type::kTrue:
      return Bit::kBoolean;
    case Type::kNumber:
      return value.text.find_first_of(".eE") == std::string::npos
                 ? Bit::kInteger
                 : Bit::kFraction;
    case Type::kString:
      return Bit::kString;
    case Type::kArray:
      return Bit::kArray;
    case Type::kObject:
      break;
  }
  return Bit::kObject;
}

ToolTypes::ToolTypes(const JsonValue& tools) {
  for (const JsonValue& tool : tools.items) {
    const JsonValue* function = tool.find("function");
    if (function == nullptr) continue;
    const JsonValue* name = function->find("name");
    if (name == nullptr || !name->is(Type::kString)) continue;
    Arguments arguments;
    if (const JsonValue* parameters = function->find("parameters")) {
      SchemaReader(*parameters).add_arguments(*parameters, 0, &arguments);
    }
    tools_.insert_or_assign(name->text, std::move(arguments));
  }
}

const ArgumentType& ToolTypes::type(std::string_view function,
                                    std::string_view argument) const {
  static const ArgumentType kUnknown;
  const auto tool = tools_.find(function);
  if (tool == tools_.end()) return kUnknown;
  const auto found = tool->second.named.find(argument);
  return found == tool->second.named.end() ? tool->second.others
                                           : found->second;
}

}  // namespace rc::text::chat
