// A matcher over any machine; see mask_walker.h for what a machine is.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "text/grammar/known_failures.h"
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

  MachineMatcher(std::shared_ptr<Machine> machine, std::shared_ptr<Masks> masks,
                 std::shared_ptr<KnownFailures> failures)
      : machine_(std::move(machine)),
        masks_(std::move(masks)),
        failures_(std::move(failures)),
        walker_(machine_.get()),
        states_({machine_->begin()}),
        mask_(masks_->vocabulary().size()) {}

  const VocabularyIndex& vocabulary() const override {
    return masks_->vocabulary();
  }
  Work& work() override { return work_; }

  const TokenMask& mask() override {
    if (has_mask_ && masked_ == states_.back() && masked_end_ == ended_) {
      return mask_;
    }
    has_mask_ = false;
    mask_.clear();
    if (!ended_) {
      run(KnownFailures::Call::kMask, {}, [&] {
        masks_->fill(states_.back(), &walker_, &mask_);
        return true;
      });
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
      ends_.push_back(text_.size());
      ended_ = true;
      return true;
    }
    const std::string& text = masks_->vocabulary().text(token);
    if (text.empty() || !accept_bytes(text)) return false;
    work_.allow(Work::kMostPerToken);
    return true;
  }

  bool accept_bytes(std::string_view bytes) override {
    if (ended_) return false;
    State next = states_.back();
    const bool allowed = run(KnownFailures::Call::kAccept, bytes, [&] {
      for (const char byte : bytes) {
        Work::walk(1);
        if (!machine_->step(&next, static_cast<uint8_t>(byte))) return false;
      }
      return true;
    });
    if (!allowed) return false;
    text_.append(bytes);
    ends_.push_back(text_.size());
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
    ends_.resize(states_.size());
    text_.resize(ends_.back());
    if (text_.size() < hashed_) {
      hashed_ = 0;
      hash_ = {};
    }
  }

  bool can_end() const override { return machine_->can_end(states_.back()); }
  bool ended() const override { return ended_; }

  bool complete() override {
    if (ended_) return true;
    const State& state = states_.back();
    if (!machine_->can_end(state)) return false;
    return run(KnownFailures::Call::kComplete, {}, [&] {
      Work::walk(kStepsForBytes);
      for (int byte = 0; byte < 256; ++byte) {
        State tried;
        if (try_byte(state, byte, &tried)) return false;
      }
      return true;
    });
  }

  std::string forced() override {
    return run(KnownFailures::Call::kForced, {}, [&] { return find_forced(); });
  }

  std::unique_ptr<Matcher> clone() const override {
    return std::unique_ptr<Matcher>(new MachineMatcher(*this));
  }

 private:
  static constexpr size_t kMaxForced = 4096;
  // Steps of work for trying every byte, in addition to those that the machine
  // counts.
  static constexpr uint64_t kStepsForBytes = 8;

  MachineMatcher(const MachineMatcher& other)
      : machine_(other.machine_),
        masks_(other.masks_),
        failures_(other.failures_),
        walker_(machine_.get()),
        states_(other.states_),
        text_(other.text_),
        ends_(other.ends_),
        ended_(other.ended_),
        mask_(masks_->vocabulary().size()),
        work_(other.work_) {}

  // Calls the function, which does the work of a call for the text so far and
  // the bytes, unless it is known to fail; a failure is known from now on.
  template <class Function>
  auto run(KnownFailures::Call call, std::string_view bytes,
           Function function) {
    if (failures_->any()) failures_->check(text_hash().after(bytes), call);
    Work::Call counted(&work_);
    try {
      auto result = function();
      counted.done();
      return result;
    } catch (const Error& error) {
      if (error.status() == RC_E_UNSUPPORTED) {
        failures_->add(text_hash().after(bytes), call, error);
      }
      throw;
    }
  }

  const TextHash& text_hash() {
    hash_ = hash_.after(std::string_view(text_).substr(hashed_));
    hashed_ = text_.size();
    return hash_;
  }

  std::string find_forced() {
    std::string bytes;
    State state = states_.back();
    while (!ended_ && !machine_->can_end(state) && bytes.size() < kMaxForced) {
      Work::walk(kStepsForBytes);
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

  // Whether the byte may come in that state; *next is the state after it.
  bool try_byte(const State& state, int byte, State* next) {
    const auto value = static_cast<uint8_t>(byte);
    if (machine_->refuses(state, state.lex, value)) return false;
    *next = state;
    return machine_->step(next, value);
  }

  std::shared_ptr<Machine> machine_;
  std::shared_ptr<Masks> masks_;
  std::shared_ptr<KnownFailures> failures_;
  MaskWalker<Machine> walker_;
  std::vector<State> states_;  // after each token; the first before any
  std::string text_;
  std::vector<size_t> ends_ = {0};  // of the text, for each of the states
  bool ended_ = false;
  // The state for which the mask was computed.
  bool has_mask_ = false;
  bool masked_end_ = false;
  State masked_;
  TokenMask mask_;
  Work work_;
  // The hash of the first `hashed_` bytes of the text.
  size_t hashed_ = 0;
  TextHash hash_;
};

}  // namespace rc::text::grammar
