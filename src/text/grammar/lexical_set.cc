#include "text/grammar/lexical_set.h"

#include <utility>

namespace rc::text::grammar {
namespace {

struct Sides {
  std::vector<ExprId> in;
  std::vector<ExprId> out;
};

Sides sides_of(const std::vector<LexicalSet>& sets) {
  Sides sides;
  for (const LexicalSet& set : sets) {
    sides.in.push_back(set.in);
    sides.out.push_back(set.out);
  }
  return sides;
}

}  // namespace

LexicalSet both(const std::vector<LexicalSet>& sets, ExprPool* pool) {
  Sides sides = sides_of(sets);
  return {pool->both(std::move(sides.in)), pool->either(std::move(sides.out))};
}

LexicalSet either(const std::vector<LexicalSet>& sets, ExprPool* pool) {
  Sides sides = sides_of(sets);
  return {pool->either(std::move(sides.in)), pool->both(std::move(sides.out))};
}

// Few sets are compared with each other, so that multiples of two numbers
// become those of one. Of more, pairs are joined, then pairs of pairs: an
// element of two of the sets is in both halves of one of these. Comparing all
// would take quadratic memory.
LexicalSet exactly_one(const std::vector<LexicalSet>& sets, ExprPool* pool) {
  constexpr size_t kFewSets = 8;
  std::vector<LexicalSet> any = sets;
  std::vector<LexicalSet> twice;  // in two sets or more
  if (sets.size() > 1 && sets.size() <= kFewSets) {
    for (size_t i = 0; i < sets.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        twice.push_back(both(sets[j], sets[i], pool));
      }
    }
    any = {either(sets, pool)};
  }
  while (any.size() > 1) {
    std::vector<LexicalSet> joined;
    for (size_t i = 0; i + 1 < any.size(); i += 2) {
      joined.push_back(either(any[i], any[i + 1], pool));
      twice.push_back(both(any[i], any[i + 1], pool));
    }
    if (any.size() % 2 == 1) joined.push_back(any.back());
    any = std::move(joined);
  }
  if (twice.empty()) return any.at(0);
  return both(any[0], negate(either(twice, pool)), pool);
}

}  // namespace rc::text::grammar
