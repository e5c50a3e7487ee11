// Masks for the states of a CallMachine.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "text/chat/calls/call_machine.h"
#include "text/grammar/json_masks.h"
#include "text/grammar/mask_walker.h"
#include "text/grammar/vocabulary_index.h"

namespace rc::text::chat {

// May be used by several threads at a time, each with its walker. The
// vocabulary contains the names of special tokens.
class CallMasks {
 public:
  using Walker = grammar::MaskWalker<CallMachine>;
  using State = CallMachine::State;

  CallMasks(std::shared_ptr<CallMachine> machine,
            std::shared_ptr<const grammar::VocabularyIndex> vocabulary);

  const grammar::VocabularyIndex& vocabulary() const { return *vocabulary_; }

  // Sets the bits of all tokens that may come next, but for end tokens.
  void fill(const State& state, Walker* walker, grammar::TokenMask* mask);

 private:
  using MaskPtr = std::shared_ptr<const grammar::TokenMask>;

  void fill_text(const State& state, Walker* walker, grammar::TokenMask* mask);
  void fill_json(const State& state, Walker* walker, grammar::TokenMask* mask);
  void fill_raw(const State& state, Walker* walker, grammar::TokenMask* mask);

  std::shared_ptr<CallMachine> machine_;
  std::shared_ptr<const grammar::VocabularyIndex> vocabulary_;
  grammar::JsonMasks json_masks_;
  // Tokens that can't end what stands before a call, or begin one, and those
  // that may.
  grammar::TokenMask plain_;
  grammar::TokenTrie deciding_;
  // Tokens without a byte of what may be the end of a raw string, and with.
  grammar::TokenTrie inner_;
  grammar::TokenTrie ending_;

  std::mutex mutex_;
  // Of inner_, by the state of the string.
  std::unordered_map<grammar::LexState, MaskPtr> raw_;
};

}  // namespace rc::text::chat
