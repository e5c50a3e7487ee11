// The pre-tokenizers of a tokenizer.json: how a text is cut into words.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "text/stop_check.h"
#include "text/tokenizer_json/json_node.h"
#include "text/tokenizer_json/normalizers.h"

namespace rc::text {

// Never changes after it was made.
class WordCutter {
 public:
  virtual ~WordCutter() = default;
  // Cuts each of the words further. `continues`: other text is before the first
  // one, so that no space is put there.
  virtual void apply(std::vector<NormalText>* words, bool continues,
                     StopCheck* stop) const = 0;
  // The same for a word that is no UTF-8, which stays one.
  virtual void apply_to_bytes(std::string* /*word*/) const {}
  // Whether all of every text is in the words.
  virtual bool keeps_all() const { return true; }
  // Whether words are written in the letters of byte-level BPE.
  virtual bool writes_letters() const { return false; }
};

// Throws RC_E_FORMAT or RC_E_UNSUPPORTED with file, pointer and value.
std::unique_ptr<const WordCutter> make_word_cutter(const JsonNode& node);

}  // namespace rc::text
