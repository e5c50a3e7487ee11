// Values as JSON, as json.dumps of Python writes it.
#pragma once

#include <optional>

#include "text/chat/containers.h"
#include "text/chat/value.h"

namespace rc::text::chat {

struct JsonStyle {
  bool ensure_ascii = false;
  bool sort_keys = false;
  // The indentation of a level; nothing for all on one line.
  std::optional<Text> indent;
  // Usual ones if absent.
  std::optional<Text> item_separator;
  std::optional<Text> key_separator;
};

Value to_json(Budget* budget, const Value& value, const JsonStyle& style);

}  // namespace rc::text::chat
