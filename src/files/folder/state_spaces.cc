#include "files/folder/state_spaces.h"

#include <charconv>
#include <optional>

namespace rc::folder {

namespace {

// Of a limit: null, which Config reads for infinities, or the text that newer
// folders have for one, in an object, is none.
std::optional<double> limit_of(const Config& config, std::string_view key,
                               const JsonValue& value) {
  if (value.is(JsonValue::Type::kNull)) return std::nullopt;
  const JsonValue* text = value.find("__float__");
  if (text != nullptr && text->is(JsonValue::Type::kString) &&
      text->text == "Infinity") {
    return std::nullopt;
  }
  double number = 0.0;
  const char* const end = value.text.data() + value.text.size();
  if (value.is(JsonValue::Type::kNumber) &&
      std::from_chars(value.text.data(), end, number).ec == std::errc()) {
    return number;
  }
  config.refuse(RC_E_FORMAT, key, " holds ", type_name(value),
                ", neither a number nor infinity");
}

}  // namespace

void add_step_limits(Description& model) {
  constexpr std::string_view kLimit = "time_step_limit";
  const Config& config = model.config();
  const JsonValue* limit = config.find(kLimit);
  if (limit == nullptr) return;
  if (!limit->is(JsonValue::Type::kArray) || limit->items.size() != 2) {
    config.refuse(RC_E_FORMAT, kLimit, " is ", type_name(*limit),
                  ", but must be an array of two numbers");
  }
  const auto least = limit_of(config, kLimit, limit->items[0]);
  if (least && *least != 0.0) model.add_number("ssm.time_step_min", *least);
  if (const auto most = limit_of(config, kLimit, limit->items[1])) {
    model.add_number("ssm.time_step_max", *most);
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
