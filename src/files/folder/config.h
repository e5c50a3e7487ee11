// A JSON object of a folder's configuration, read with errors that name file
// and member.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json_value.h"
#include "base/quote.h"

namespace rc::folder {

class Config {
 public:
  // Throws RC_E_FORMAT naming the file unless the text is a JSON object. NaN
  // and infinities, as Python writes them, are null.
  static Config parse(std::string_view text, const std::string& file);

  // With the members of `defaults`, the text of a JSON object, where this has
  // none of the name; null is a member too.
  void add_defaults(std::string_view defaults);

  // With a member `to` that is the same as `from`, if there is only that one.
  void add_alias(std::string_view from, std::string_view to);

  const std::string& file() const { return file_; }
  const std::vector<std::pair<std::string, JsonValue>>& members() const {
    return object_.members;
  }

  bool has(std::string_view key) const { return find_any(key) != nullptr; }
  // The member if there is one and it is not null.
  const JsonValue* find(std::string_view key) const;
  // nullopt if it is absent or null; throws RC_E_FORMAT if it has another type.
  std::optional<int64_t> find_int(std::string_view key) const;
  std::optional<double> find_number(std::string_view key) const;
  std::optional<bool> find_flag(std::string_view key) const;
  std::optional<std::string> find_text(std::string_view key) const;
  std::optional<std::vector<std::string>> find_texts(
      std::string_view key) const;
  std::optional<std::vector<int64_t>> find_ints(std::string_view key) const;
  std::optional<std::vector<double>> find_numbers(std::string_view key) const;
  std::optional<Config> find_object(std::string_view key) const;
  // Throw RC_E_FORMAT if it is absent or null.
  int64_t get_int(std::string_view key) const;
  double get_number(std::string_view key) const;
  std::string get_text(std::string_view key) const;

  // Of all members.
  std::vector<std::string> names() const;

  // The name of the member in messages: "rope_scaling.factor".
  std::string path(std::string_view key) const;

  template <class... Parts>
  [[noreturn]] void refuse(rc_status status, std::string_view key,
                           const Parts&... parts) const {
    fail(status, file_, ": ", path(key), parts...);
  }

 private:
  Config(JsonValue object, std::string file, std::string prefix)
      : object_(std::move(object)),
        file_(std::move(file)),
        prefix_(std::move(prefix)) {}

  const JsonValue* find_any(std::string_view key) const;
  // The value if it is of that type.
  const JsonValue* find_of(std::string_view key, JsonValue::Type type) const;
  double number_of(std::string_view key, const JsonValue& value) const;
  int64_t int_of(std::string_view key, const JsonValue& value) const;
  [[noreturn]] void wrong_type(std::string_view key, const JsonValue& value,
                               const char* wanted) const;
  [[noreturn]] void absent(std::string_view key) const;

  JsonValue object_;
  std::string file_;
  std::string prefix_;  // "" or "rope_scaling."
};

}  // namespace rc::folder
