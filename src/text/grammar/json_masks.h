// Masks for the states of a JsonMachine.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "text/grammar/json_machine.h"
#include "text/grammar/mask_walker.h"
#include "text/grammar/vocabulary_index.h"

namespace rc::text::grammar {

// May be used by several threads at a time, each with its walker. The masks for
// the inside of strings are shared.
class JsonMasks {
 public:
  using Walker = MaskWalker<JsonMachine>;
  using State = JsonMachine::State;

  JsonMasks(std::shared_ptr<JsonMachine> machine,
            std::shared_ptr<const VocabularyIndex> vocabulary);

  const VocabularyIndex& vocabulary() const { return *vocabulary_; }

  // Sets the bits of all tokens that may come next, but for end tokens.
  void fill(const State& state, Walker* walker, TokenMask* mask);
  // In a state within a string: the same of those that don't leave it.
  void fill_content(const State& state, Walker* walker, TokenMask* mask);

 private:
  using MaskPtr = std::shared_ptr<const TokenMask>;

  // Tokens that don't leave the string, in a state within one.
  MaskPtr content(const State& state, Walker* walker);
  // Tokens that do.
  void fill_quotes(const State& state, Walker* walker, TokenMask* mask);
  bool fill_key_quotes(const State& state, Walker* walker, TokenMask* mask);

  std::shared_ptr<JsonMachine> machine_;
  std::shared_ptr<const VocabularyIndex> vocabulary_;
  std::mutex mutex_;
  std::unordered_map<LexState, MaskPtr> contents_;
};

}  // namespace rc::text::grammar
