#include "text/grammar/regex_lookahead.h"

#include <utility>

namespace rc::text::grammar {
namespace {

using Kind = RegexPart::Kind;

// Repetitions of lookahead that are written out.
constexpr uint32_t kMostCopies = 32;
// Parts that are joined: copies within copies are many.
constexpr size_t kMostJoined = 100'000;

// The texts from one place in a text to its end: where something comes before
// the place, and where the text begins there.
struct Tail {
  ExprId within;
  ExprId at_begin;
  bool operator==(const Tail&) const = default;
};
using Found = std::optional<Tail>;

constexpr Tail kAnyTail = {ExprPool::kAny, ExprPool::kAny};
constexpr Tail kNoTail = {ExprPool::kEmpty, ExprPool::kEmpty};

class Joiner {
 public:
  explicit Joiner(ExprPool* pool) : pool_(*pool) {}

  std::optional<ExprId> whole(const RegexPart& part, bool search) {
    const Found found = join(part, search ? kAnyTail : kNoTail);
    if (!found) return std::nullopt;
    return search ? after(ExprPool::kAny, *found).at_begin : found->at_begin;
  }

 private:
  // The part, and then the rest. These call each other as deep as groups nest.
  Found join(const RegexPart& part, const Tail& rest) {
    if (++joined_ > kMostJoined) return std::nullopt;
    pool_.step();
    switch (part.kind) {
      case Kind::kPlain:
        return plain(part.plain, rest);
      case Kind::kAhead:
        return ahead(part, rest);
      case Kind::kSequence: {
        Found found = rest;
        for (size_t i = part.parts.size(); i-- > 0 && found;) {
          found = join(part.parts[i], *found);
        }
        return found;
      }
      case Kind::kAlternatives:
        return alternatives(part, rest);
      case Kind::kRepeat:
        return part.max == kUnbounded ? star(part, rest) : copies(part, rest);
    }
    return std::nullopt;
  }

  // At least one character.
  ExprId something() {
    return pool_.repeat(pool_.set(CharSet::all()), 1, kUnbounded);
  }

  Tail after(ExprId x, const Tail& rest) {
    const ExprId within = pool_.concat(x, rest.within);
    if (rest.within == rest.at_begin || !pool_.nullable(x)) {
      return {within, within};
    }
    const ExprId some =
        x == ExprPool::kAny ? something() : pool_.both(x, something());
    return {within,
            pool_.either(pool_.concat(some, rest.within), rest.at_begin)};
  }

  Tail plain(const Anchored& x, const Tail& rest) {
    const Tail end = {empty_part(rest.within), empty_part(rest.at_begin)};
    const Tail free = after(x[0], rest);
    const Tail ends = after(x[kEnds], end);
    return {pool_.either(free.within, ends.within),
            pool_.either({free.at_begin, ends.at_begin,
                          after(x[kStarts], rest).at_begin,
                          after(x[kStarts | kEnds], end).at_begin})};
  }

  ExprId empty_part(ExprId x) const {
    return pool_.nullable(x) ? ExprPool::kEmpty : ExprPool::kNothing;
  }

  // The condition of a lookahead for the rest.
  Found asked(const RegexPart& part) {
    Found found = join(part.parts[0], kAnyTail);
    if (found && part.negative) {
      found = Tail{pool_.negate(found->within), pool_.negate(found->at_begin)};
    }
    return found;
  }

  Tail both(const Tail& a, const Tail& b) {
    return {pool_.both(a.within, b.within), pool_.both(a.at_begin, b.at_begin)};
  }

  Found ahead(const RegexPart& part, const Tail& rest) {
    const Found found = asked(part);
    if (!found) return std::nullopt;
    return both(*found, rest);
  }

  Found alternatives(const RegexPart& part, const Tail& rest) {
    std::vector<ExprId> within, at_begin;
    for (const RegexPart& one : part.parts) {
      const Found found = join(one, rest);
      if (!found) return std::nullopt;
      within.push_back(found->within);
      at_begin.push_back(found->at_begin);
    }
    return Tail{pool_.either(std::move(within)),
                pool_.either(std::move(at_begin))};
  }

  Tail either(const Tail& a, const Tail& b) {
    return {pool_.either(a.within, b.within),
            pool_.either(a.at_begin, b.at_begin)};
  }

  Found copies(const RegexPart& part, const Tail& rest) {
    if (part.max > kMostCopies) return std::nullopt;
    Tail tail = rest;
    for (uint32_t left = part.max; left > 0; --left) {
      const Found found = join(part.parts[0], tail);
      if (!found) return std::nullopt;
      tail = left > part.min ? either(rest, *found) : *found;
    }
    return tail;
  }

  Found star(const RegexPart& part, const Tail& rest) {
    if (part.min > kMostCopies) return std::nullopt;
    Found tail = any_number(part.parts[0], rest);
    for (uint32_t i = 0; i < part.min && tail; ++i) {
      tail = join(part.parts[0], *tail);
    }
    return tail;
  }

  // Repetitions after which anything may come match if there are none of them.
  // Up to the end of the text, characters one after the other are looked ahead
  // from where none of the rest is what must not come.
  Found any_number(const RegexPart& body, const Tail& rest) {
    if (rest == kAnyTail) return rest;
    if (rest != kNoTail || body.kind != Kind::kSequence ||
        !body.parts.back().one_character) {
      return std::nullopt;
    }
    Tail good = kAnyTail;
    for (size_t i = 0; i + 1 < body.parts.size(); ++i) {
      if (body.parts[i].kind != Kind::kAhead) return std::nullopt;
      const Found found = asked(body.parts[i]);
      if (!found) return std::nullopt;
      good = both(good, *found);
    }
    const ExprId all = pool_.repeat(body.parts.back().plain[0], 0, kUnbounded);
    // Texts in which a place, or one after the first, is no good.
    const ExprId bad = pool_.concat(
        ExprPool::kAny, pool_.both(pool_.negate(good.within), something()));
    const ExprId bad_later = pool_.concat(pool_.set(CharSet::all()), bad);
    const Tail tail = {
        pool_.both(all, pool_.negate(bad)),
        pool_.either(ExprPool::kEmpty, pool_.both({all, good.at_begin,
                                                   pool_.negate(bad_later)}))};
    if (good.within == good.at_begin) return Tail{tail.within, tail.within};
    return tail;
  }

  ExprPool& pool_;
  size_t joined_ = 0;
};

}  // namespace

std::optional<ExprId> join_lookahead(const RegexPart& part, bool search,
                                     ExprPool* pool) {
  return Joiner(pool).whole(part, search);
}

}  // namespace rc::text::grammar
