// Deterministic automata of regular expressions, built as they are walked.
//
// A state holds several expressions at once, each with a tag: what is read goes
// through all of them, and the tags of those that match are reported at the
// end.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "text/grammar/expr.h"

namespace rc::text::grammar {

using LexState = uint32_t;
inline constexpr LexState kDeadLex = 0;
inline constexpr uint32_t kEndTag = 0;

// An expression and whose it is.
using TaggedExpr = std::pair<ExprId, uint32_t>;

// Appends the expressions that may follow a match to *parts, for the tag of an
// expression that matches the text read so far. Called under the lexer's mutex.
// Nothing follows the tag kEndTag. Other tags need not be among those that are
// accepted: the expressions after them take their place.
using Follow =
    std::function<void(uint32_t tag, std::vector<TaggedExpr>* parts)>;

// For several threads at a time: states and transitions never change once they
// are there. A thread that adds some holds the mutex, which guards the pool
// too.
class Lexer {
 public:
  // Throws RC_E_UNSUPPORTED once there would be more than max_states, or more
  // than 64 parts and moves for each of so many.
  Lexer(ExprPool* pool, std::recursive_mutex* mutex, size_t max_states,
        Follow follow = nullptr);
  ~Lexer();
  Lexer(const Lexer&) = delete;
  Lexer& operator=(const Lexer&) = delete;

  // Expressions that match nothing are left out; kDeadLex if none remains.
  LexState start(std::vector<TaggedExpr> parts);

  // The state after one more character.
  LexState step(LexState state, char32_t c) {
    const Moves& moves = moves_of(state);
    return c < kAscii ? moves.ascii[c] : wide_step(moves, c);
  }
  // The moves by the 128 characters of ASCII.
  const LexState* ascii_moves(LexState state) {
    return moves_of(state).ascii.data();
  }
  // Whether any character beyond ASCII leads on.
  bool goes_beyond_ascii(LexState state) { return moves_of(state).wide; }
  // Whether any character from low to high leads on.
  bool can_step(LexState state, char32_t low, char32_t high);

  // The tags of the expressions that match what was read, ascending.
  const std::vector<uint32_t>& accepted(LexState state) const {
    return at(state).accepted;
  }
  const std::vector<TaggedExpr>& parts(LexState state) const {
    return at(state).parts;
  }
  // Returns the number of arbitrary characters that may certainly follow;
  // UINT8_MAX is any number.
  uint8_t freedom(LexState state) const { return at(state).freedom; }

  // Whether every character leads to one state; `next` is that state.
  bool uniform(LexState state, LexState* next) {
    const Moves& moves = moves_of(state);
    *next = moves.all[0].next;
    return moves.all.size() == 1;
  }
  // Whether nothing but the number of characters counts.
  bool only_length(LexState state) const { return at(state).only_length; }

  size_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  static constexpr char32_t kAscii = 128;
  static constexpr size_t kChunk = 256;
  struct Move {
    char32_t low;
    LexState next;
  };
  struct Moves {
    std::array<LexState, kAscii> ascii;
    std::vector<Move> all;  // sorted; the first is of U+0000
    bool wide = false;      // some beyond ASCII leads on
  };
  struct State {
    std::vector<TaggedExpr> parts;
    std::vector<uint32_t> accepted;
    uint8_t freedom = 0;
    bool only_length = false;
    std::atomic<const Moves*> moves = nullptr;
  };

  const State& at(LexState state) const {
    return chunks_[state / kChunk].load(
        std::memory_order_acquire)[state % kChunk];
  }
  const Moves& moves_of(LexState state) {
    const Moves* moves = at(state).moves.load(std::memory_order_acquire);
    return moves != nullptr ? *moves : build_moves(state);
  }
  const Moves& build_moves(LexState state);
  static LexState wide_step(const Moves& moves, char32_t c);
  LexState intern(std::vector<TaggedExpr> parts);
  // Leaves out what is there twice or matches nothing.
  void tidy(std::vector<TaggedExpr>* parts);
  // Counts parts and moves against the limit.
  void store(size_t elements);
  // Every character's next state, of few or of many parts.
  std::vector<Move> moves_of_few(const std::vector<TaggedExpr>& parts);
  std::vector<Move> moves_of_many(const std::vector<TaggedExpr>& parts);

  ExprPool& pool_;
  std::recursive_mutex& mutex_;
  size_t max_states_;
  size_t stored_ = 0;
  Follow follow_;
  std::atomic<size_t> size_ = 0;
  std::vector<std::atomic<State*>> chunks_;
  std::vector<std::unique_ptr<State[]>> owned_;
  std::vector<std::unique_ptr<const Moves>> owned_moves_;
  std::map<std::vector<TaggedExpr>, LexState> by_parts_;
};

}  // namespace rc::text::grammar
