// Sets of strings or of numbers, as what they are written like.
#pragma once

#include <vector>

#include "text/grammar/expr.h"

namespace rc::text::grammar {

// Known from two sides, so that a set that is not known exactly can be negated
// and still nothing wrong is accepted: what is in neither is not known to be in
// the set or out of it.
struct LexicalSet {
  ExprId in = ExprPool::kNothing;
  ExprId out = ExprPool::kNothing;
  bool operator==(const LexicalSet&) const = default;
};

LexicalSet both(const std::vector<LexicalSet>& sets, ExprPool* pool);
LexicalSet either(const std::vector<LexicalSet>& sets, ExprPool* pool);
// The elements of exactly one of the sets.
LexicalSet exactly_one(const std::vector<LexicalSet>& sets, ExprPool* pool);

inline LexicalSet both(const LexicalSet& a, const LexicalSet& b,
                       ExprPool* pool) {
  return {pool->both(a.in, b.in), pool->either(a.out, b.out)};
}
inline LexicalSet either(const LexicalSet& a, const LexicalSet& b,
                         ExprPool* pool) {
  return {pool->either(a.in, b.in), pool->both(a.out, b.out)};
}
inline LexicalSet negate(const LexicalSet& a) { return {a.out, a.in}; }

}  // namespace rc::text::grammar
