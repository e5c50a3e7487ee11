// DRY ("don't repeat yourself"): tokens that would go on with a repetition lose
// the more of their logits the longer it is. By P. E. Weidmann,
// https://github.com/oobabooga/text-generation-webui/pull/5677.
//
// A token that came before, after the very tokens that are the last ones now,
// repeats as many tokens as are the same there. No repetition goes across a
// breaker: a token whose text has one of some characters, or a control token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/sampling_options.h"
#include "engine/token.h"

namespace rc::text {
class Tokenizer;
}

namespace rc::engine {

// One for each request, so for one thread at a time.
class Dry {
 public:
  // The options have been checked. Without a tokenizer nothing is a breaker.
  Dry(const SamplingOptions& options,
      std::shared_ptr<const text::Tokenizer> tokenizer);

  bool is_on() const { return multiplier_ > 0.0f; }
  // Takes from the logits of all tokens that would go on with a repetition of
  // at least allowed_length tokens. Time and memory are linear in the history.
  void penalize(std::span<const TokenId> history, std::span<float> logits);

 private:
  bool breaks(TokenId token);
  float penalty(size_t repeated) const;

  float multiplier_;
  float base_;
  size_t allowed_length_;
  int32_t tokens_;  // -1: all
  std::vector<std::string> breakers_;
  std::shared_ptr<const text::Tokenizer> tokenizer_;
  std::vector<int8_t> known_;  // by token: whether it breaks; -1: not yet known
  std::vector<size_t> same_;   // spare memory
  std::vector<size_t> longest_;  // by token: of what it would go on with
  std::vector<TokenId> touched_;
};

// The characters of a text, one by one.
std::vector<std::string> characters_of(std::string_view text);

}  // namespace rc::engine
