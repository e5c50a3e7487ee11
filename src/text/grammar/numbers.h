// Sets of numbers as regular expressions over how JSON writes them.
//
// A number that is constrained is written in plain decimals, or in scientific
// notation as programs print it: one digit that is not zero before the point,
// at most 16 after it, and an exponent from -308 to -1 or from 16 to 308. Other
// ways to write numbers are only accepted where every number is.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "text/grammar/decimal.h"
#include "text/grammar/lexical_set.h"

namespace rc::text::grammar {

// The pool must outlive it and is used under the same conditions.
class Numbers {
 public:
  explicit Numbers(ExprPool* pool);

  // Every number.
  LexicalSet all() const { return {every_, ExprPool::kNothing}; }
  LexicalSet none() const { return {ExprPool::kNothing, every_}; }
  // Numbers without a fraction, or only those that are written without one, as
  // draft 4 of JSON Schema has it.
  LexicalSet integers() const { return integers_; }
  LexicalSet plain_integers() const { return plain_integers_; }
  // Numbers above the limit, or also equal to it.
  LexicalSet above(const Decimal& limit, bool inclusive);
  LexicalSet below(const Decimal& limit, bool inclusive);
  LexicalSet equal(const Decimal& value);
  // Throws RC_E_UNSUPPORTED for divisors that take too many states.
  LexicalSet multiples(const Decimal& divisor);
  // Returns the number of numbers, at most `cap`; also `cap` if counting would
  // take many steps.
  uint64_t count(const LexicalSet& numbers, uint64_t cap);

 private:
  LexicalSet round_multiples(uint32_t factor, uint32_t zeros);

  enum class Side { kBelow, kEqual, kAbove };

  ExprId digits(uint32_t min, uint32_t max);
  ExprId digit(char low, char high);
  ExprId exponents_beyond(int limit, Side side);
  ExprId make_exponents(int limit, Side side);
  // Numbers without a sign on one side of the magnitude of `limit`.
  ExprId magnitudes(const Decimal& limit, Side side);
  ExprId plain_side(const std::string& whole, const std::string& fraction,
                    Side side, bool fixed_whole);
  ExprId fractions(const std::string& fraction, Side side);
  ExprId scientific_side(const Decimal& limit, Side side);
  // With a sign: numbers on one side of the limit.
  ExprId side_of(const Decimal& limit, Side side);

  ExprPool& pool_;
  ExprId minus_;
  ExprId any_fraction_;  // with its point, or nothing
  ExprId plain_unsigned_;
  ExprId shortest_;  // plain decimals, each number once, with its sign
  ExprId mantissa_;  // of scientific notation
  ExprId large_;     // exponents of 16 and more, with the "e"
  ExprId small_;     // exponents below zero
  ExprId unsigned_;  // all magnitudes
  ExprId every_;
  LexicalSet integers_;
  LexicalSet plain_integers_;
  // Those that were made: enums have many numbers of few magnitudes.
  std::map<std::pair<int, Side>, ExprId> exponents_;
};

}  // namespace rc::text::grammar
