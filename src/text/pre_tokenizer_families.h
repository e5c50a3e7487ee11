// The values of tokenizer.ggml.pre: how models cut texts into words.
#pragma once

#include <string_view>
#include <vector>

namespace rc::text {

// Models that cut in the same way.
struct PreTokenizerFamily {
  std::string_view names;                  // separated by spaces
  std::vector<std::string_view> patterns;  // each cuts further
  bool ignore_merges = false;
  bool add_bos = false;
  bool nfc = false;
};

const std::vector<PreTokenizerFamily>& pre_tokenizer_families();

}  // namespace rc::text
