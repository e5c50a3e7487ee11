// Cuts text into the words within which byte-level BPE joins bytes.
#pragma once

#include <string_view>
#include <vector>

#include "text/regex.h"
#include "text/stop_check.h"

namespace rc::text {

// The pattern by which GPT-2 cuts, and byte-level BPE unless the file says
// otherwise; for PCRE2 and Oniguruma alike.
inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+)"
    R"(|\s+(?!\S)|\s+)";

class PreTokenizer {
 public:
  // By the value of tokenizer.ggml.pre; "" means "default". Throws
  // RC_E_UNSUPPORTED with `source` and the known names if it is none of them.
  PreTokenizer(std::string_view name, std::string_view source);

  // The words of the text, in order, pointing into it; together they are the
  // text. Each maximal run of ill-formed UTF-8 is a word.
  std::vector<std::string_view> split(std::string_view text,
                                      StopCheck* stop) const;

  // Whether a word that is a token is taken whole, whatever the merges.
  bool ignore_merges() const { return ignore_merges_; }
  // Whether a text begins with BOS unless the file says otherwise.
  bool add_bos() const { return add_bos_; }
  // Whether text is composed first (NFC) unless the file says otherwise.
  bool nfc() const { return nfc_; }

 private:
  std::vector<Regex> stages_;
  bool ignore_merges_;
  bool add_bos_;
  bool nfc_;
};

}  // namespace rc::text
