// The models of a tokenizer.json: how a word becomes tokens.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/stop_check.h"
#include "text/tokenizer_json/json_node.h"
#include "text/vocabulary.h"

namespace rc::text {

// The tokens of a model by id; "" where an id is not used.
struct ModelTokens {
  std::vector<std::string> texts;
  // Unigram: one for each token.
  std::vector<double> scores;
  size_t count = 0;  // how many the model has, as the package counts
};

// Throws RC_E_FORMAT or RC_E_UNSUPPORTED with file, pointer and value.
ModelTokens read_model_tokens(const JsonNode& model);

// Never changes after it was made.
class WordModel {
 public:
  virtual ~WordModel() = default;
  // Appends the tokens of a word, which is not empty. What is no token is the
  // unknown token or, where there is none, left out.
  virtual void encode(std::string_view word, StopCheck* stop,
                      std::vector<TokenId>* out) const = 0;
  // Whether each byte of a word is in one of its tokens, whatever the word is;
  // `letters`: words are written in the letters of byte-level BPE.
  virtual bool keeps_all(bool /*letters*/) const { return false; }
  TokenId unknown() const { return unknown_; }
  // Whether tokens named <0xNN> stand for bytes.
  bool byte_fallback() const { return byte_fallback_; }

 protected:
  TokenId unknown_ = kNoToken;
  bool byte_fallback_ = false;
};

// Makes the model of the node. `tokens` must outlive it. Tokens for which
// `special` is true never come from a word but as the unknown token.
std::unique_ptr<const WordModel> make_word_model(
    const JsonNode& node, const ModelTokens& tokens,
    const std::vector<bool>& special);

// One kind each.
std::unique_ptr<const WordModel> make_bpe_model(
    const JsonNode& node, const ModelTokens& tokens,
    const std::vector<bool>& special);
std::unique_ptr<const WordModel> make_unigram_model(
    const JsonNode& node, const ModelTokens& tokens,
    const std::vector<bool>& special);

}  // namespace rc::text
