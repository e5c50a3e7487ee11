// Tokenizers of tokenizer.json, for tests.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>

#include "text/tokenizer_json/json_tokenizer.h"

namespace rc::text {

using OrderedJson = nlohmann::ordered_json;

inline std::shared_ptr<const Tokenizer> tokenizer_of(const OrderedJson& json) {
  Vocabulary known;
  known.source = "small.gguf";
  return make_json_tokenizer(json.dump(), known);
}

}  // namespace rc::text
