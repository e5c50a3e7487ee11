#include "text/grammar/json_value.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

#include "base/error.h"
#include "base/quote.h"

namespace rc::text::grammar {
namespace {

using Json = nlohmann::json;

// Builds the tree as the parser reports it. The parser does not recurse.
class TreeBuilder : public nlohmann::json_sax<Json> {
 public:
  explicit TreeBuilder(size_t max_depth) : max_depth_(max_depth) {}

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
    return add({.type = JsonValue::Type::kString, .text = value});
  }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(size_t /*size*/) override {
    return open(JsonValue::Type::kObject);
  }
  bool key(string_t& name) override {
    if (!names_.back().insert(name).second) {
      fail(RC_E_INVALID_ARGUMENT, "JSON: an object has two members ",
           quote(name));
    }
    name_ = name;
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(size_t /*size*/) override {
    return open(JsonValue::Type::kArray);
  }
  bool end_array() override { return close(); }
  bool parse_error(size_t at, const std::string& /*token*/,
                   const Json::exception& error) override {
    fail(RC_E_INVALID_ARGUMENT, "JSON, byte ", at, ": ", error.what());
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
      fail(RC_E_INVALID_ARGUMENT, "JSON: values nest deeper than ", max_depth_,
           " levels");
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

  size_t max_depth_;
  JsonValue root_;
  std::string name_;
  std::vector<JsonValue*> open_;
  std::vector<std::unordered_set<std::string>> names_;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  for (const auto& [key, value] : members) {
    if (key == name) return &value;
  }
  return nullptr;
}

JsonValue parse_json(std::string_view text, size_t max_depth) {
  TreeBuilder builder(max_depth);
  Json::sax_parse(text, &builder);
  return builder.take();
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

}  // namespace rc::text::grammar
