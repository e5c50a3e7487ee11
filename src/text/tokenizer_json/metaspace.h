// The parameters that the pre-tokenizer and the decoder Metaspace share.
#pragma once

#include <string>

#include "text/tokenizer_json/json_node.h"

namespace rc::text {

struct Metaspace {
  // Which parts of a text get a mark in front.
  enum class Scheme { kNever, kFirst, kAlways };
  std::string replacement;  // one character, which stands for a space
  Scheme scheme = Scheme::kAlways;
  bool split = true;  // before each mark
};

// Throws RC_E_FORMAT.
Metaspace read_metaspace(const JsonNode& node);

}  // namespace rc::text
