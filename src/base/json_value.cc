#include "base/json_value.h"

#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/error.h"
#include "base/quote.h"
#include "base/utf8.h"

namespace rc {
namespace {

using Json = nlohmann::json;

// Builds the tree as the parser reports it. The parser does not recurse.
class TreeBuilder : public nlohmann::json_sax<Json> {
 public:
  TreeBuilder(std::string_view argument, size_t max_depth)
      : argument_(argument), max_depth_(max_depth) {}

  bool null() override { return add({}); }
  bool boolean(bool value) override {
    return add(
        {.type = value ? JsonValue::Type::kTrue : JsonValue::Type::kFalse});
  }
  bool number_integer(number_integer_t value) override {
    return add(
        {.type = JsonValue::Type::kNumber, .text = std::to_string(value)});
  }
  bool number_unsigned(number_unsigned_t value) override {
    return add(
        {.type = JsonValue::Type::kNumber, .text = std::to_string(value)});
  }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    return add({.type = JsonValue::Type::kNumber, .text = text});
  }
  bool string(string_t& value) override {
    return add({.type = JsonValue::Type::kString, .text = std::move(value)});
  }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(size_t /*size*/) override {
    return open(JsonValue::Type::kObject);
  }
  bool key(string_t& name) override {
    if (!names_.back().insert(name).second) {
      fail(RC_E_INVALID_ARGUMENT, argument_, ": an object has two members ",
           quote(name));
    }
    name_ = std::move(name);
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(size_t /*size*/) override {
    return open(JsonValue::Type::kArray);
  }
  bool end_array() override { return close(); }
  bool parse_error(size_t at, const std::string& /*token*/,
                   const Json::exception& error) override {
    fail(RC_E_INVALID_ARGUMENT, argument_, ": not JSON at byte ", at, ": ",
         error.what());
  }

  JsonValue take() { return std::move(root_); }

 private:
  // Where a value that begins now belongs.
  JsonValue* place(JsonValue value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    JsonValue& parent = *open_.back();
    if (parent.is(JsonValue::Type::kArray)) {
      parent.items.push_back(std::move(value));
      return &parent.items.back();
    }
    parent.members.emplace_back(std::move(name_), std::move(value));
    return &parent.members.back().second;
  }
  bool add(JsonValue value) {
    place(std::move(value));
    return true;
  }
  bool open(JsonValue::Type type) {
    if (open_.size() >= max_depth_) {
      fail(RC_E_INVALID_ARGUMENT, argument_, ": values nest deeper than ",
           max_depth_, " levels: flatten them");
    }
    // Stays where it is: nothing is added to its parent while it is open.
    open_.push_back(place({.type = type}));
    names_.emplace_back();
    return true;
  }
  bool close() {
    open_.pop_back();
    names_.pop_back();
    return true;
  }

  std::string_view argument_;
  size_t max_depth_;
  JsonValue root_;
  std::string name_;
  std::vector<JsonValue*> open_;
  std::vector<std::unordered_set<std::string>> names_;
};

void append_string(std::string_view string, std::string* out) {
  constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t";
  constexpr std::string_view kLetters = "\"\\bfnrt";
  constexpr std::string_view kDigits = "0123456789abcdef";
  *out += '"';
  for (const char c : valid_utf8(string)) {
    const size_t escaped = kEscaped.find(c);
    if (escaped != kEscaped.npos) {
      *out += {'\\', kLetters[escaped]};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      *out += "\\u00";
      *out += {kDigits[c >> 4], kDigits[c & 15]};
    } else {
      *out += c;
    }
  }
  *out += '"';
}

void append(const JsonValue& value, std::string* out) {
  bool first = true;
  const auto separate = [&] {
    if (!first) *out += ',';
    first = false;
  };
  switch (value.type) {
    case JsonValue::Type::kNull:
      *out += "null";
      break;
    case JsonValue::Type::kFalse:
      *out += "false";
      break;
    case JsonValue::Type::kTrue:
      *out += "true";
      break;
    case JsonValue::Type::kNumber:
      *out += value.text;
      break;
    case JsonValue::Type::kString:
      append_string(value.text, out);
      break;
    case JsonValue::Type::kArray:
      *out += '[';
      for (const JsonValue& item : value.items) {
        separate();
        append(item, out);
      }
      *out += ']';
      break;
    case JsonValue::Type::kObject:
      *out += '{';
      for (const auto& [name, member] : value.members) {
        separate();
        append_string(name, out);
        *out += ':';
        append(member, out);
      }
      *out += '}';
      break;
  }
}

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  for (const auto& [key, value] : members) {
    if (key == name) return &value;
  }
  return nullptr;
}

const JsonValue* JsonValue::find_given(std::string_view name) const {
  const JsonValue* found = find(name);
  return found == nullptr || found->is(Type::kNull) ? nullptr : found;
}

JsonValue parse_json(std::string_view text, std::string_view name,
                     size_t max_depth) {
  TreeBuilder builder(name, max_depth);
  Json::sax_parse(text, &builder);
  return builder.take();
}

bool is_json(std::string_view text) { return Json::accept(text); }

std::string json_text(const JsonValue& value) {
  std::string text;
  append(value, &text);
  return text;
}

std::string json_text(std::string_view string) {
  std::string text;
  append_string(string, &text);
  return text;
}

const char* type_name(const JsonValue& value) {
  switch (value.type) {
    case JsonValue::Type::kNull:
      return "null";
    case JsonValue::Type::kFalse:
    case JsonValue::Type::kTrue:
      return "a boolean";
    case JsonValue::Type::kNumber:
      return "a number";
    case JsonValue::Type::kString:
      return "a string";
    case JsonValue::Type::kArray:
      return "an array";
    case JsonValue::Type::kObject:
      break;
  }
  return "an object";
}

std::string pointer_to(std::string_view pointer, std::string_view name) {
  std::string result(pointer);
  result += '/';
  for (const char c : name) {
    if (c == '~') {
      result += "~0";
    } else if (c == '/') {
      result += "~1";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace rc
