#include "text/grammar/schema_keyword.h"

#include "text/grammar/expr.h"

namespace rc::text::grammar {

std::optional<Decimal> keyword_number(const SchemaLocation& at,
                                      std::string_view keyword) {
  const JsonValue* const value = at.value->find(keyword);
  if (value == nullptr) return std::nullopt;
  if (!value->is(JsonValue::Type::kNumber)) {
    malformed_keyword(at, keyword, "this has to be a number");
  }
  return at_keyword(at, keyword, [&] { return parse_decimal(value->text); });
}

std::optional<uint32_t> keyword_count(const SchemaLocation& at,
                                      std::string_view keyword) {
  const std::optional<Decimal> value = keyword_number(at, keyword);
  if (!value) return std::nullopt;
  if (value->negative || !value->fraction().empty()) {
    malformed_keyword(at, keyword,
                      "this has to be an integer that is not negative");
  }
  const std::string digits = value->whole();
  if (digits.size() > 9) return kUnbounded;
  return static_cast<uint32_t>(std::stoul(digits));
}

const std::string* keyword_text(const SchemaLocation& at,
                                std::string_view keyword) {
  const JsonValue* const value = at.value->find(keyword);
  if (value == nullptr) return nullptr;
  if (!value->is(JsonValue::Type::kString)) {
    malformed_keyword(at, keyword, "this has to be a string");
  }
  return &value->text;
}

std::vector<std::string> texts_of(const SchemaLocation& at,
                                  std::string_view keyword,
                                  const JsonValue& value) {
  std::vector<std::string> texts;
  if (!value.is(JsonValue::Type::kArray)) {
    malformed_keyword(at, keyword, "this has to be a list of strings");
  }
  for (const JsonValue& item : value.items) {
    if (!item.is(JsonValue::Type::kString)) {
      malformed_keyword(at, keyword, "this has to be a list of strings");
    }
    texts.push_back(item.text);
  }
  return texts;
}

}  // namespace rc::text::grammar
