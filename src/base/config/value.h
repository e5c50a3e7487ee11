// Values of settings, checked against what is allowed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/config/keys.h"

namespace rc::config {

// A text that its copies share, so that copying a value cannot fail: when the
// copy of an alternative throws, std::variant of libstdc++ 12 destroys what it
// has not made.
class Text {
 public:
  explicit Text(std::string text)
      : text_(std::make_shared<const std::string>(std::move(text))) {}

  const std::string& get() const { return *text_; }

  friend bool operator==(const Text& a, const Text& b) {
    return a.get() == b.get();
  }

 private:
  std::shared_ptr<const std::string> text_;
};

// Of a flag, an integer, a real number; of a text or a choice.
using Value = std::variant<bool, int64_t, double, Text>;

// Parses a text of the environment or of a program. Throws
// RC_E_INVALID_ARGUMENT: `subject`, such as "the environment variable X", the
// text, and the values that are allowed.
Value value_of_text(const Key& key, std::string_view text,
                    const std::string& subject);

// A value that a file holds by its own type. An integer may stand for a real
// number, and 0 and 1 for a flag. Throws RC_E_FORMAT in the same words.
Value checked_value(const Key& key, const Value& value,
                    const std::string& subject);

// The value as a file would say it: 0.5, true, "auto".
std::string file_text(const Value& value);

// key.initial, which must not be nullptr, as a value.
Value initial_value(const Key& key);

}  // namespace rc::config
