#include "files/folder/state_spaces.h"

namespace rc::folder {

void expect_no_step_limit(const Config& config) {
  constexpr std::string_view kLimit = "time_step_limit";
  const JsonValue* limit = config.find(kLimit);
  if (limit == nullptr) return;
  const auto is_zero = [](const JsonValue& value) {
    return value.is(JsonValue::Type::kNumber) &&
           (value.text == "0.0" || value.text == "0");
  };
  // Newer folders have a text for it, in an object.
  const auto is_infinite = [](const JsonValue& value) {
    if (value.is(JsonValue::Type::kNull)) return true;
    const JsonValue* text = value.find("__float__");
    return text != nullptr && text->is(JsonValue::Type::kString) &&
           text->text == "Infinity";
  };
  if (!limit->is(JsonValue::Type::kArray) || limit->items.size() != 2 ||
      !is_zero(limit->items[0]) || !is_infinite(limit->items[1])) {
    config.refuse(RC_E_UNSUPPORTED, kLimit,
                  " is not from 0 to infinity; steps are computed without a "
                  "limit");
  }
}

int64_t step_rank(const Config& config, std::string_view key) {
  const JsonValue* value = config.find(key);
  if (value == nullptr || value->is(JsonValue::Type::kString)) {
    expect_text(config, key, {"auto"});
    const int64_t width = config.get_int("hidden_size");
    return width / 16 + (width % 16 != 0 ? 1 : 0);
  }
  return config.get_int(key);
}

}  // namespace rc::folder
