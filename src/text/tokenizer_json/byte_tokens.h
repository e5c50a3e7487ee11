// The tokens <0xNN> of a model with byte fallback.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "text/tokenizer_json/models.h"
#include "text/tokenizers/sentencepiece_text.h"

namespace rc::text {

class ByteTokens {
 public:
  explicit ByteTokens(const ModelTokens& tokens) {
    ids_.fill(kNoToken);
    for (size_t i = 0; i < tokens.texts.size(); ++i) {
      const int byte = parse_byte_token(tokens.texts[i]);
      // As the package writes their names.
      const auto is_small = [](char c) { return c >= 'a' && c <= 'f'; };
      if (byte < 0 || is_small(tokens.texts[i][3]) ||
          is_small(tokens.texts[i][4])) {
        continue;
      }
      ids_[static_cast<size_t>(byte)] = static_cast<TokenId>(i);
    }
  }
  TokenId of(char byte) const { return ids_[static_cast<uint8_t>(byte)]; }
  bool complete() const {
    return std::find(ids_.begin(), ids_.end(), kNoToken) == ids_.end();
  }
  // Whether each byte of the text has one.
  bool cover(std::string_view text) const {
    return std::all_of(text.begin(), text.end(),
                       [this](char byte) { return of(byte) != kNoToken; });
  }

 private:
  std::array<TokenId, 256> ids_;
};

}  // namespace rc::text
