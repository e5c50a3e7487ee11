#include "files/folder/config.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace rc::folder {
namespace {

constexpr size_t kMaxDepth = 32;

// Python writes numbers that JSON has not as words; here they are null.
std::string without_infinity(std::string_view text) {
  if (text.find("Infinity") == text.npos && text.find("NaN") == text.npos) {
    return std::string(text);
  }
  std::string result;
  result.reserve(text.size());
  bool quoted = false;
  while (!text.empty()) {
    size_t count = 1;
    if (text.front() == '"') {
      quoted = !quoted;
    } else if (quoted) {
      if (text.front() == '\\') count = std::min<size_t>(2, text.size());
    } else {
      for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
        if (text.starts_with(word)) {
          result += "null";
          count = 0;
          text.remove_prefix(word.size());
          break;
        }
      }
    }
    result += text.substr(0, count);
    text.remove_prefix(count);
  }
  return result;
}

// The source that parse_json reports as an argument is a file here.
JsonValue parse_file(std::string_view text, const std::string& file) {
  try {
    return parse_json(without_infinity(text), file, kMaxDepth);
  } catch (const Error& error) {
    if (error.status() != RC_E_INVALID_ARGUMENT) throw;
    throw Error(RC_E_FORMAT, error.message());
  }
}

}  // namespace

Config Config::parse(std::string_view text, const std::string& file) {
  JsonValue value = parse_file(text, file);
  if (!value.is(JsonValue::Type::kObject)) {
    fail(RC_E_FORMAT, file, ": it is ", type_name(value), ", not an object");
  }
  return Config(std::move(value), file, "");
}

void Config::add_defaults(std::string_view defaults) {
  for (auto& member : parse_file(defaults, "defaults").members) {
    if (!has(member.first)) object_.members.push_back(std::move(member));
  }
}

void Config::add_alias(std::string_view from, std::string_view to) {
  const JsonValue* value = find_any(from);
  if (value == nullptr || has(to)) return;
  object_.members.emplace_back(std::string(to), JsonValue(*value));
}

std::vector<std::string> Config::names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : object_.members) names.push_back(name);
  return names;
}

std::string Config::path(std::string_view key) const {
  return prefix_ + quote(key);
}

const JsonValue* Config::find_any(std::string_view key) const {
  return object_.find(key);
}

const JsonValue* Config::find(std::string_view key) const {
  return object_.find_given(key);
}

void Config::wrong_type(std::string_view key, const JsonValue& value,
                        const char* wanted) const {
  refuse(RC_E_FORMAT, key, " is ", type_name(value), ", not ", wanted);
}

void Config::absent(std::string_view key) const {
  refuse(RC_E_FORMAT, key, " is missing");
}

int64_t Config::int_of(std::string_view key, const JsonValue& value) const {
  if (!value.is(JsonValue::Type::kNumber)) {
    wrong_type(key, value, "an integer");
  }
  int64_t number = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto result = std::from_chars(value.text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) {
    refuse(RC_E_FORMAT, key, " is ", quote(value.text),
           ", not an integer below 2^63");
  }
  return number;
}

std::optional<int64_t> Config::find_int(std::string_view key) const {
  const JsonValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  return int_of(key, *value);
}

double Config::number_of(std::string_view key, const JsonValue& value) const {
  if (!value.is(JsonValue::Type::kNumber)) wrong_type(key, value, "a number");
  double number = 0.0;
  const char* const end = value.text.data() + value.text.size();
  const auto result = std::from_chars(value.text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end || !std::isfinite(number)) {
    refuse(RC_E_FORMAT, key, " is ", quote(value.text),
           ", which is out of range");
  }
  return number;
}

std::optional<double> Config::find_number(std::string_view key) const {
  const JsonValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  return number_of(key, *value);
}

std::optional<bool> Config::find_flag(std::string_view key) const {
  const JsonValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_bool()) wrong_type(key, *value, "a boolean");
  return value->is(JsonValue::Type::kTrue);
}

const JsonValue* Config::find_of(std::string_view key,
                                 JsonValue::Type type) const {
  const JsonValue* value = find(key);
  if (value == nullptr || value->is(type)) return value;
  wrong_type(key, *value, type_name({.type = type}));
}

std::optional<std::string> Config::find_text(std::string_view key) const {
  const JsonValue* value = find_of(key, JsonValue::Type::kString);
  if (value == nullptr) return std::nullopt;
  return value->text;
}

std::optional<std::vector<std::string>> Config::find_texts(
    std::string_view key) const {
  const JsonValue* value = find_of(key, JsonValue::Type::kArray);
  if (value == nullptr) return std::nullopt;
  std::vector<std::string> texts;
  for (const JsonValue& item : value->items) {
    if (!item.is(JsonValue::Type::kString)) {
      refuse(RC_E_FORMAT, key, " holds ", type_name(item), ", not a string");
    }
    texts.push_back(item.text);
  }
  return texts;
}

std::optional<std::vector<int64_t>> Config::find_ints(
    std::string_view key) const {
  const JsonValue* value = find_of(key, JsonValue::Type::kArray);
  if (value == nullptr) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const JsonValue& item : value->items) {
    numbers.push_back(int_of(key, item));
  }
  return numbers;
}

std::optional<std::vector<double>> Config::find_numbers(
    std::string_view key) const {
  const JsonValue* value = find_of(key, JsonValue::Type::kArray);
  if (value == nullptr) return std::nullopt;
  std::vector<double> numbers;
  for (const JsonValue& item : value->items) {
    numbers.push_back(number_of(key, item));
  }
  return numbers;
}

std::optional<Config> Config::find_object(std::string_view key) const {
  const JsonValue* value = find_of(key, JsonValue::Type::kObject);
  if (value == nullptr) return std::nullopt;
  return Config(*value, file_, path(key) + ".");
}

int64_t Config::get_int(std::string_view key) const {
  const auto value = find_int(key);
  if (!value) absent(key);
  return *value;
}

double Config::get_number(std::string_view key) const {
  const auto value = find_number(key);
  if (!value) absent(key);
  return *value;
}

std::string Config::get_text(std::string_view key) const {
  auto value = find_text(key);
  if (!value) absent(key);
  return *std::move(value);
}

}  // namespace rc::folder
