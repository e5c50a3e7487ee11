#include "text/grammar/regex_syntax.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/nested_calls.h"
#include "text/grammar/regex_escapes.h"
#include "text/grammar/regex_lookahead.h"

namespace rc::text::grammar {
namespace {

constexpr size_t kMaxGroups = 100;  // within one another
constexpr uint32_t kMaxRepeats = 1'000'000;

Anchored unanchored(ExprId x) {
  return {x, ExprPool::kNothing, ExprPool::kNothing, ExprPool::kNothing};
}

bool is_plain(const RegexPart& part) {
  return part.kind == RegexPart::Kind::kPlain;
}

RegexPart plain(const Anchored& matching) { return {.plain = matching}; }

class RegexParser {
 public:
  RegexParser(std::string_view pattern, const RegexOptions& options,
              ExprPool* pool)
      : in_(pattern), options_(options), pool_(*pool) {}

  ExprId parse() {
    const RegexPart whole = alternatives();
    if (!in_.done()) in_.malformed("')' without '('");
    if (!is_plain(whole)) {
      const auto joined = join_lookahead(whole, options_.search, &pool_);
      if (!joined) in_.unsupported("lookahead in a group that is repeated");
      return *joined;
    }
    const Anchored& all = whole.plain;
    std::vector<ExprId> parts;
    for (size_t anchors = 0; anchors < all.size(); ++anchors) {
      ExprId x = all[anchors];
      if (options_.search && (anchors & kStarts) == 0) {
        x = pool_.concat(ExprPool::kAny, x);
      }
      if (options_.search && (anchors & kEnds) == 0) {
        x = pool_.concat(x, ExprPool::kAny);
      }
      parts.push_back(x);
    }
    return pool_.either(std::move(parts));
  }

 private:
  Anchored either(const Anchored& a, const Anchored& b) {
    Anchored result;
    for (size_t i = 0; i < result.size(); ++i) {
      result[i] = pool_.either(a[i], b[i]);
    }
    return result;
  }

  // Parts to the left of a beginning of the text, or to the right of its end,
  // must be empty.
  Anchored concat(const Anchored& a, const Anchored& b) {
    Anchored result = unanchored(ExprPool::kNothing);
    for (size_t i = 0; i < a.size(); ++i) {
      for (size_t j = 0; j < b.size(); ++j) {
        ExprId left = a[i];
        ExprId right = b[j];
        if ((j & kStarts) != 0) left = empty_part(left);
        if ((i & kEnds) != 0) right = empty_part(right);
        ExprId& sum = result[i | j];
        sum = pool_.either(sum, pool_.concat(left, right));
      }
    }
    return result;
  }

  ExprId empty_part(ExprId x) const {
    return pool_.nullable(x) ? ExprPool::kEmpty : ExprPool::kNothing;
  }

  RegexPart alternatives() {
    if (++depth_ > kMaxGroups) {
      in_.unsupported("more than ", kMaxGroups, " groups within one another");
    }
    std::vector<RegexPart> all;
    do {
      all.push_back(sequence());
    } while (in_.take("|"));
    --depth_;
    if (all.size() == 1) return std::move(all[0]);
    if (!std::all_of(all.begin(), all.end(), is_plain)) {
      return {.kind = RegexPart::Kind::kAlternatives, .parts = std::move(all)};
    }
    // All at once: one after the other would take quadratic time.
    std::array<std::vector<ExprId>, 4> parts;
    for (const RegexPart& next : all) {
      for (size_t i = 0; i < parts.size(); ++i) {
        parts[i].push_back(next.plain[i]);
      }
    }
    Anchored result;
    for (size_t i = 0; i < result.size(); ++i) {
      result[i] = pool_.either(std::move(parts[i]));
    }
    return plain(result);
  }

  RegexPart sequence() {
    // Joined from the right, without anchors first, for the same reason.
    std::vector<RegexPart> terms;
    while (!in_.done() && in_.peek() != '|' && in_.peek() != ')') {
      terms.push_back(term());
    }
    if (!std::all_of(terms.begin(), terms.end(), is_plain)) {
      return {.kind = RegexPart::Kind::kSequence, .parts = std::move(terms)};
    }
    Anchored result = unanchored(ExprPool::kEmpty);
    for (size_t i = terms.size(); i-- > 0;) {
      const Anchored& left = terms[i].plain;
      if (left == unanchored(left[0]) && result == unanchored(result[0])) {
        result[0] = pool_.concat(left[0], result[0]);
      } else {
        result = concat(left, result);
      }
    }
    return plain(result);
  }

  RegexPart term() {
    if (in_.take("^")) {
      return plain({ExprPool::kNothing, ExprPool::kEmpty, ExprPool::kNothing,
                    ExprPool::kNothing});
    }
    if (in_.take("$")) {
      return plain({ExprPool::kNothing, ExprPool::kNothing, ExprPool::kEmpty,
                    ExprPool::kNothing});
    }
    RegexPart inner = atom();
    uint32_t min = 1;
    uint32_t max = 1;
    if (!quantifier(&min, &max)) return inner;
    if (inner.kind == RegexPart::Kind::kAhead) {
      in_.unsupported("a quantifier after lookahead");
    }
    in_.take("?");  // lazy: the same texts
    uint32_t again_min = 0;
    uint32_t again_max = 0;
    if (in_.peek() == '+' || quantifier(&again_min, &again_max)) {
      in_.malformed("a quantifier after a quantifier");
    }
    if (is_plain(inner)) return plain(repeat(inner.plain, min, max));
    RegexPart repeated = {
        .kind = RegexPart::Kind::kRepeat, .min = min, .max = max};
    repeated.parts.push_back(std::move(inner));
    return repeated;
  }

  Anchored repeat(const Anchored& inner, uint32_t min, uint32_t max) {
    if (inner == unanchored(inner[0])) {
      return unanchored(pool_.repeat(inner[0], min, max));
    }
    // Anchors keep all but one repetition empty, or without the anchor.
    if (max > 1) {
      in_.unsupported("an anchor in a group that is repeated");
    }
    return min == 0 ? either(inner, unanchored(ExprPool::kEmpty)) : inner;
  }

  bool quantifier(uint32_t* min, uint32_t* max) {
    if (in_.take("*")) {
      *min = 0;
      *max = kUnbounded;
      return true;
    }
    if (in_.take("+")) {
      *min = 1;
      *max = kUnbounded;
      return true;
    }
    if (in_.take("?")) {
      *min = 0;
      *max = 1;
      return true;
    }
    const size_t back = in_.at();
    if (in_.take("{")) {
      if (const std::optional<uint32_t> low = number()) {
        *min = *max = *low;
        if (in_.take(",")) *max = number().value_or(kUnbounded);
        if (in_.take("}")) {
          if (*min > *max) in_.malformed("a quantifier runs backwards");
          return true;
        }
      }
    }
    // A brace that begins no quantifier stands for itself.
    in_.go_to(back);
    return false;
  }

  std::optional<uint32_t> number() {
    std::optional<uint32_t> value;
    while (in_.peek() >= '0' && in_.peek() <= '9') {
      const auto digit = static_cast<uint32_t>(in_.character() - '0');
      value = value.value_or(0) * 10 + digit;
      if (*value > kMaxRepeats) {
        in_.unsupported("more than ", kMaxRepeats, " repetitions");
      }
    }
    return value;
  }

  RegexPart atom() {
    if (in_.take("(")) return group();
    if (in_.take("[")) return characters(in_.character_class());
    if (in_.take("\\")) return characters(in_.escape(false));
    if (in_.take(".")) {
      CharSet newlines = CharSet::of("\n\r") | CharSet::of(0x2028, 0x2029);
      return one_of(options_.dot_matches_newline ? CharSet::all() : ~newlines);
    }
    if (in_.peek() == '*' || in_.peek() == '+' || in_.peek() == '?') {
      in_.malformed("a quantifier after nothing");
    }
    const char32_t c = in_.character();
    return characters(CharSet::of(c, c));
  }

  RegexPart one_of(const CharSet& set) {
    return {.one_character = true, .plain = unanchored(pool_.set(set))};
  }

  RegexPart characters(CharSet set) {
    if (options_.ignore_case) {
      std::vector<CharSet::Range> folded = set.ranges();
      for (const CharSet::Range& range : set.ranges()) {
        // Large ranges are of letters that have all their cases inside.
        if (range.high - range.low > kMaxFolded) continue;
        for (char32_t c = range.low; c <= range.high; ++c) {
          const auto code_point = static_cast<utf8proc_int32_t>(c);
          for (const utf8proc_int32_t other :
               {utf8proc_tolower(code_point), utf8proc_toupper(code_point)}) {
            const auto point = static_cast<char32_t>(other);
            if (point != c) folded.push_back({point, point});
          }
        }
      }
      set = CharSet::of(std::move(folded));
    }
    return one_of(set);
  }

  // After '('.
  RegexPart group() {
    if (in_.take("?")) {
      const bool negative = in_.peek() == '!';
      if (in_.take("=") || in_.take("!")) return lookahead(negative);
      if (in_.take("<=") || in_.take("<!")) in_.unsupported("lookbehind");
      if (in_.take("P<") || in_.take("<")) {
        while (!in_.done() && in_.peek() != '>') in_.character();
        if (!in_.take(">")) in_.malformed("the name of a group is not closed");
      } else if (!in_.take(":")) {
        in_.unsupported("flags or another extension after '(?'");
      }
    }
    RegexPart inner = alternatives();
    if (!in_.take(")")) in_.malformed("'(' without ')'");
    return inner;
  }

  RegexPart lookahead(bool negative) {
    if (!options_.lookahead) in_.unsupported("lookahead");
    RegexPart ahead = {.kind = RegexPart::Kind::kAhead, .negative = negative};
    ahead.parts.push_back(alternatives());
    if (!in_.take(")")) in_.malformed("'(' without ')'");
    return ahead;
  }

  static constexpr char32_t kMaxFolded = 0x1000;

  PatternReader in_;
  const RegexOptions& options_;
  ExprPool& pool_;
  size_t depth_ = 0;
};

}  // namespace

ExprId parse_regex(std::string_view pattern, const RegexOptions& options,
                   ExprPool* pool) {
  // Groups are read within one another.
  const auto groups = std::count(pattern.begin(), pattern.end(), '(');
  return call_nested(static_cast<size_t>(groups), [&] {
    return RegexParser(pattern, options, pool).parse();
  });
}

}  // namespace rc::text::grammar
