#include "base/config/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/json_value.h"
#include "base/quote.h"

namespace rc::config {
namespace {

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

std::optional<Value> read(const Key& key, std::string_view text) {
  switch (key.kind) {
    case Kind::kFlag:
      if (text == "1" || text == "true") return true;
      if (text == "0" || text == "false") return false;
      return std::nullopt;
    case Kind::kInteger:
      return number<int64_t>(text);
    case Kind::kReal:
      return number<double>(text);
    default:
      return Text(std::string(text));
  }
}

bool is_choice(std::string_view choices, std::string_view text) {
  while (!choices.empty()) {
    const size_t end = std::min(choices.find(", "), choices.size());
    if (choices.substr(0, end) == text) return true;
    choices.remove_prefix(std::min(end + 2, choices.size()));
  }
  return false;
}

// Limits are infinite, or far below those of exact integers in a double.
bool is_within(const Key& key, double value) {
  return std::isfinite(value) && value <= key.most &&
         (key.above_least ? value > key.least : value >= key.least);
}

// Real numbers become floats, which hold less.
bool is_float(double value) {
  return std::abs(value) <= std::numeric_limits<float>::max();
}

// By the key's own type, or nothing.
std::optional<Value> converted(const Key& key, const Value& value) {
  const auto* whole = std::get_if<int64_t>(&value);
  switch (key.kind) {
    case Kind::kFlag:
      if (whole != nullptr && (*whole == 0 || *whole == 1)) return *whole == 1;
      if (std::holds_alternative<bool>(value)) return value;
      return std::nullopt;
    case Kind::kInteger:
      if (whole == nullptr || !is_within(key, static_cast<double>(*whole))) {
        return std::nullopt;
      }
      return value;
    case Kind::kReal: {
      const auto* real = std::get_if<double>(&value);
      if (whole == nullptr && real == nullptr) return std::nullopt;
      const double given =
          real != nullptr ? *real : static_cast<double>(*whole);
      if (!is_within(key, given) || !is_float(given)) return std::nullopt;
      return given;
    }
    default:
      break;
  }
  const auto* given = std::get_if<Text>(&value);
  if (given == nullptr) return std::nullopt;
  const std::string& text = given->get();
  if (text.find('\0') != text.npos) return std::nullopt;
  if (key.kind == Kind::kChoice && !is_choice(key.choices, text)) {
    return std::nullopt;
  }
  return value;
}

std::string must_be(const Key& key) { return "; it must be " + allowed(key); }

}  // namespace

Value value_of_text(const Key& key, std::string_view text,
                    const std::string& subject) {
  if (const std::optional<Value> value = read(key, text)) {
    if (const auto checked = converted(key, *value)) return *checked;
  }
  fail(RC_E_INVALID_ARGUMENT, subject, " is ", quote(text), must_be(key));
}

Value checked_value(const Key& key, const Value& value,
                    const std::string& subject) {
  if (const auto checked = converted(key, value)) return *checked;
  const auto* text = std::get_if<Text>(&value);
  fail(RC_E_FORMAT, subject, " is ",
       text != nullptr ? "the text " + quote(text->get()) : file_text(value),
       must_be(key));
}

std::string file_text(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) {
    return *flag ? "true" : "false";
  }
  if (const auto* whole = std::get_if<int64_t>(&value)) return cat(*whole);
  if (const auto* real = std::get_if<double>(&value)) {
    // The shortest that reads back the same; TOML wants a point.
    char text[64];
    const auto end = std::to_chars(text, text + sizeof text, *real).ptr;
    std::string result(text, end);
    if (result.find_first_of(".en") == result.npos) result += ".0";
    return result;
  }
  return json_text(std::get<Text>(value).get());
}

Value initial_value(const Key& key) {
  return value_of_text(key, key.initial, key.name);
}

}  // namespace rc::config
