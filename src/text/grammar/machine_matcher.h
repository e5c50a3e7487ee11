// A matcher over any machine; see mask_walker.h for what a machine is.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "text/grammar/mask_walker.h"
#include "text/grammar/matcher.h"
#include "text/grammar/vocabulary_index.h"

namespace rc::text::grammar {

// `Masks` computes masks for a machine's states and remembers what can be
// shared; it belongs to the grammar.
template <class Machine, class Masks>
class MachineMatcher : public Matcher {
 public:
  using State = typename Machine::State;

  MachineMatcher(std::shared_ptr<Machine> machine, std::shared_ptr<Masks> masks)
      : machine_(std::move(machine)),
        masks_(std::move(masks)),
        walker_(machine_.get()),
        states_({machine_->begin()}),
        mask_(masks_->vocabulary().size()) {}

  const VocabularyIndex& vocabulary() const override {
    return masks_->vocabulary();
  }

  const TokenMask& mask() override {
    if (has_mask_ && masked_ == states_.back() && masked_end_ == ended_) {
      return mask_;
    }
    has_mask_ = false;
    mask_.clear();
    if (!ended_) {
      masks_->fill(states_.back(), &walker_, &mask_);
      if (can_end()) {
        for (const int32_t token : masks_->vocabulary().ends()) {
          mask_.set(token);
        }
      }
    }
    masked_ = states_.back();
    masked_end_ = ended_;
    has_mask_ = true;
    return mask_;
  }

  bool accept(int32_t token) override {
    if (ended_ || token < 0 ||
        static_cast<size_t>(token) >= masks_->vocabulary().size()) {
      return false;
    }
    if (masks_->vocabulary().is_end(token)) {
      if (!can_end()) return false;
      states_.push_back(states_.back());
      ended_ = true;
      return true;
    }
    const std::string& text = masks_->vocabulary().text(token);
    return !text.empty() && accept_bytes(text);
  }

  bool accept_bytes(std::string_view bytes) override {
    if (ended_) return false;
    State next = states_.back();
    for (const char byte : bytes) {
      if (!machine_->step(&next, static_cast<uint8_t>(byte))) return false;
    }
    states_.push_back(std::move(next));
    return true;
  }

  void rollback(size_t tokens) override {
    if (tokens >= states_.size()) {
      fail(RC_E_INVALID_ARGUMENT, "grammar: ", tokens,
           " tokens can't be taken back; there are ", states_.size() - 1);
    }
    if (tokens > 0) ended_ = false;
    states_.resize(states_.size() - tokens);
  }

  bool can_end() const override { return machine_->can_end(states_.back()); }
  bool ended() const override { return ended_; }

  bool complete() override {
    if (ended_) return true;
    const State& state = states_.back();
    if (!machine_->can_end(state)) return false;
    for (int byte = 0; byte < 256; ++byte) {
      State tried;
      if (try_byte(state, byte, &tried)) return false;
    }
    return true;
  }

  std::string forced() override {
    std::string bytes;
    State state = states_.back();
    while (!ended_ && !machine_->can_end(state) && bytes.size() < kMaxForced) {
      int found = -1;
      State next;
      for (int byte = 0; byte < 256; ++byte) {
        if (byte == '\\' &&
            machine_->reading(state) == Machine::Reading::kContent) {
          continue;
        }
        State tried;
        if (!try_byte(state, byte, &tried)) continue;
        if (found >= 0) return bytes;
        found = byte;
        next = std::move(tried);
      }
      if (found < 0) break;
      bytes += static_cast<char>(found);
      state = std::move(next);
    }
    return bytes;
  }

  std::unique_ptr<Matcher> clone() const override {
    return std::unique_ptr<Matcher>(new MachineMatcher(*this));
  }

 private:
  static constexpr size_t kMaxForced = 4096;

  MachineMatcher(const MachineMatcher& other)
      : machine_(other.machine_),
        masks_(other.masks_),
        walker_(machine_.get()),
        states_(other.states_),
        ended_(other.ended_),
        mask_(masks_->vocabulary().size()) {}

  // Whether the byte may come in that state; *next is the state after it.
  bool try_byte(const State& state, int byte, State* next) {
    const auto value = static_cast<uint8_t>(byte);
    if (machine_->refuses(state, state.lex, value)) return false;
    *next = state;
    return machine_->step(next, value);
  }

  std::shared_ptr<Machine> machine_;
  std::shared_ptr<Masks> masks_;
  MaskWalker<Machine> walker_;
  std::vector<State> states_;  // after each token; the first before any
  bool ended_ = false;
  // What the mask was computed for.
  bool has_mask_ = false;
  bool masked_end_ = false;
  State masked_;
  TokenMask mask_;
};

}  // namespace rc::text::grammar
