// Masks for the states of a TextMachine.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "text/grammar/mask_walker.h"
#include "text/grammar/text_machine.h"
#include "text/grammar/vocabulary_index.h"

namespace rc::text::grammar {

// May be used by several threads at a time, each with its walker.
class TextMasks {
 public:
  using Walker = MaskWalker<TextMachine>;
  using State = TextMachine::State;

  TextMasks(std::shared_ptr<TextMachine> /*machine*/,
            std::shared_ptr<const VocabularyIndex> vocabulary)
      : vocabulary_(std::move(vocabulary)) {}

  const VocabularyIndex& vocabulary() const { return *vocabulary_; }

  // Sets the bits of all tokens that may come next, but for end tokens.
  void fill(const State& state, Walker* walker, TokenMask* mask);

 private:
  std::shared_ptr<const VocabularyIndex> vocabulary_;
  std::mutex mutex_;
  std::unordered_map<LexState, std::shared_ptr<const TokenMask>> masks_;
};

}  // namespace rc::text::grammar
