// Values of arguments that a format writes without quotes.
#include <optional>

#include "text/chat/loose_json.h"
#include "text/chat/replies/call_parts.h"
#include "text/chat/replies/tool_types.h"

namespace rc::text::chat {
namespace {

using Type = JsonValue::Type;
using Bit = ArgumentType::Bit;

// A value, and how it is written as JSON.
struct Read {
  JsonValue value;
  std::string json;
};

std::optional<Read> read_value(std::string_view text, bool python) {
  if (auto value = read_loose_json(text)) {
    return Read{std::move(*value), with_escaped_controls(text)};
  }
  if (!python) return std::nullopt;
  auto value = read_python_literal(text);
  if (!value) return std::nullopt;
  std::string json = json_text(*value);
  return Read{std::move(*value), std::move(json)};
}

bool fits(const ArgumentType& type, const JsonValue& value) {
  const Bit bit = type_of(value);
  // 2.0 is an integer of JSON Schema.
  return type.allows(bit) ||
         (bit == Bit::kFraction && type.allows(Bit::kInteger));
}

bool is_null(std::string_view text, bool python) {
  return text == "null" || (python && text == "None");
}

// The value that the schema names and the text means; nullptr: none.
const JsonValue* named_value(const ArgumentType& type,
                             std::string_view written) {
  const std::string_view trimmed = without_spaces(written);
  const auto text_of = [&](std::string_view text) -> const JsonValue* {
    for (const JsonValue& value : type.values) {
      if (value.is(Type::kString) && value.text == text) return &value;
    }
    return nullptr;
  };
  if (const JsonValue* found = text_of(written)) return found;
  const auto read = read_value(trimmed, /*python=*/true);
  if (read) {
    for (const JsonValue& value : type.values) {
      if (!value.is(Type::kString) && value == read->value) return &value;
    }
  }
  if (const JsonValue* found = text_of(trimmed)) return found;
  if (read && read->value.is(Type::kString)) return text_of(read->value.text);
  return nullptr;
}

}  // namespace

std::string argument_json(const ArgumentType& type, std::string_view written,
                          const ValueStyle& style) {
  using Said = ValueStyle::Said;
  if (type.closed) {
    const JsonValue* value = named_value(type, written);
    if (value != nullptr) return json_text(*value);
  }
  const bool may_be_text = type.allows(Bit::kString);
  if (style.said == Said::kString && may_be_text) return json_text(written);
  const std::string_view trimmed = without_spaces(written);
  if (type.is_text()) {
    if (type.allows(Bit::kNull) && is_null(trimmed, style.python)) {
      return "null";
    }
    if (style.said == Said::kJson) {
      const auto value = read_loose_json(trimmed);
      if (value && value->is(Type::kString)) return json_text(*value);
    }
    return json_text(written);
  }
  if (trimmed.empty() && !may_be_text && type.allows(Bit::kNull)) {
    return "null";
  }
  const bool python = style.python || !may_be_text;
  const auto read = read_value(trimmed, python);
  if (!read) return json_text(written);
  if (fits(type, read->value)) return read->json;
  if (read->value.is(Type::kString)) {
    // Quotes around a value that is declared to be no string.
    const auto within = read_value(read->value.text, python);
    if (within && fits(type, within->value)) return within->json;
  }
  return may_be_text ? json_text(written) : read->json;
}

}  // namespace rc::text::chat
