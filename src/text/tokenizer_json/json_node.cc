#include "text/tokenizer_json/json_node.h"

#include <charconv>
#include <cmath>

#include "base/quote.h"

namespace rc::text {

std::string JsonNode::where() const {
  return cat(source_, ": tokenizer.huggingface.json: ",
             pointer_.empty() ? "the whole" : pointer_, " ");
}

void JsonNode::expect(JsonValue::Type type, const char* wanted) const {
  if (!value_->is(type)) {
    refuse("is ", type_name(*value_), "; it must be ", wanted);
  }
}

std::string JsonNode::text(size_t limit) const {
  expect(JsonValue::Type::kString, "a string");
  if (value_->text.size() > limit) {
    refuse("has ", value_->text.size(), " bytes; the limit is ", limit);
  }
  return value_->text;
}

bool JsonNode::boolean() const {
  if (!value_->is_bool()) {
    refuse("is ", type_name(*value_), "; it must be true or false");
  }
  return value_->is(JsonValue::Type::kTrue);
}

double JsonNode::number() const {
  expect(JsonValue::Type::kNumber, "a number");
  const std::string& digits = value_->text;
  double number = 0;
  const auto result =
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (result.ec != std::errc() || !std::isfinite(number)) {
    refuse("is ", quote(digits), "; it must be a finite number");
  }
  return number;
}

int64_t JsonNode::integer(int64_t low, int64_t high) const {
  expect(JsonValue::Type::kNumber, "an integer");
  const std::string& digits = value_->text;
  int64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end || number < low ||
      number > high) {
    refuse("is ", quote(digits), "; it must be an integer from ", low, " to ",
           high);
  }
  return number;
}

TokenId JsonNode::id() const {
  return static_cast<TokenId>(
      integer(0, static_cast<int64_t>(kMaxJsonTokens) - 1));
}

std::vector<JsonNode> JsonNode::items(size_t limit) const {
  expect(JsonValue::Type::kArray, "an array");
  if (value_->items.size() > limit) {
    refuse("has ", value_->items.size(), " elements; the limit is ", limit);
  }
  std::vector<JsonNode> nodes;
  nodes.reserve(value_->items.size());
  for (size_t i = 0; i < value_->items.size(); ++i) {
    nodes.push_back(JsonNode(&value_->items[i], source_,
                             pointer_to(pointer_, std::to_string(i))));
  }
  return nodes;
}

JsonNode JsonNode::at(std::string_view name) const {
  expect(JsonValue::Type::kObject, "an object");
  const JsonValue* found = value_->find(name);
  if (found == nullptr) refuse("has no member ", quote(name));
  return JsonNode(found, source_, pointer_to(pointer_, name));
}

std::optional<JsonNode> JsonNode::find(std::string_view name) const {
  expect(JsonValue::Type::kObject, "an object");
  const JsonValue* found = value_->find_given(name);
  if (found == nullptr) return std::nullopt;
  return JsonNode(found, source_, pointer_to(pointer_, name));
}

bool JsonNode::flag(std::string_view name, bool otherwise) const {
  const auto found = find(name);
  return found ? found->boolean() : otherwise;
}

}  // namespace rc::text
