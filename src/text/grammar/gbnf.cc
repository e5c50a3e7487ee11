#include "text/grammar/gbnf.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/nested_calls.h"
#include "base/utf8.h"
#include "text/grammar/rule_reader.h"

namespace rc::text::grammar {
namespace {

constexpr size_t kMaxNesting = 100;  // of groups

class GbnfParser {
 public:
  GbnfParser(std::string_view text, ExprPool* pool, RuleSet* rules)
      : in_(text), pool_(*pool), rules_(*rules) {}

  uint32_t parse() {
    skip_space(true);
    while (!in_.done()) {
      const std::string_view name = take_name();
      skip_space(false);
      if (!in_.take("::=")) in_.malformed("'::=' has to follow a rule's name");
      skip_space(true);
      const uint32_t rule = rules_.rule(name);
      const RulePart body = alternatives(false);
      in_.here([&] { rules_.define(rule, body); });
      if (!in_.done() && in_.peek() != '\n' && in_.peek() != '\r') {
        in_.malformed("a rule has to end with its line");
      }
      skip_space(true);
    }
    const uint32_t root = rules_.rule("root");
    if (!rules_.defined(root)) in_.malformed("there is no rule \"root\"");
    return root;
  }

 private:
  void skip_space(bool lines) {
    for (;;) {
      const char c = in_.peek();
      if (c == '#') {
        while (!in_.done() && in_.peek() != '\n' && in_.peek() != '\r') {
          in_.skip(1);
        }
      } else if (c == ' ' || c == '\t' || (lines && (c == '\n' || c == '\r'))) {
        in_.skip(1);
      } else {
        return;
      }
    }
  }

  std::string_view take_name() {
    const size_t from = in_.at();
    while (is_name_byte(in_.peek()) || in_.peek() == '-') in_.skip(1);
    if (in_.at() == from) in_.malformed("a rule's name has to stand here");
    return in_.since(from);
  }

  RulePart alternatives(bool nested) {
    std::vector<RulePart> ways;
    do {
      skip_space(true);
      ways.push_back(sequence(nested));
    } while (in_.take("|"));
    return ways.size() == 1 ? ways[0] : rules_.choice(std::move(ways));
  }

  RulePart sequence(bool nested) {
    std::vector<RulePart> all;
    for (;;) {
      const char c = in_.peek();
      if (c == '"') {
        all.push_back(literal());
      } else if (c == '[') {
        all.push_back(rules_.expr(pool_.set(characters())));
      } else if (c == '.') {
        in_.skip(1);
        all.push_back(rules_.expr(pool_.set(CharSet::all())));
      } else if (c == '(') {
        all.push_back(group());
      } else if (c == '<' || c == '!') {
        in_.unsupported("tokens are not supported; write what they stand for");
      } else if (is_name_byte(c) || c == '-') {
        all.push_back(rules_.reference(rules_.rule(take_name())));
      } else {
        break;
      }
      skip_space(nested);
      repetitions(&all, nested);
    }
    return all.size() == 1 ? all[0] : rules_.sequence(std::move(all));
  }

  // Of what was read last.
  void repetitions(std::vector<RulePart>* all, bool nested) {
    for (;;) {
      uint32_t min = 0;
      uint32_t max = kUnbounded;
      if (in_.take("+")) {
        min = 1;
      } else if (in_.take("?")) {
        max = 1;
      } else if (in_.take("{")) {
        bounds(&min, &max);
      } else if (!in_.take("*")) {
        return;
      }
      all->back() = rules_.repeat(all->back(), min, max);
      skip_space(nested);
    }
  }

  void bounds(uint32_t* min, uint32_t* max) {
    skip_space(true);
    const std::optional<uint32_t> low = in_.number();
    skip_space(true);
    *min = low.value_or(0);
    if (in_.take(",")) {
      skip_space(true);
      *max = in_.number().value_or(kUnbounded);
      skip_space(true);
    } else if (low) {
      *max = *low;
    } else {
      in_.malformed("a number has to stand here");
    }
    if (!in_.take("}")) in_.malformed("'{' without '}'");
    if (*min > *max) in_.malformed("the bounds run backwards");
  }

  RulePart group() {
    in_.skip(1);
    if (++depth_ > kMaxNesting) {
      in_.unsupported("more than ", kMaxNesting, " groups in one another");
    }
    const RulePart inner = alternatives(true);
    --depth_;
    if (!in_.take(")")) in_.malformed("'(' without ')'");
    return inner;
  }

  char32_t literal_character() {
    return in_.take("\\") ? in_.escape() : in_.character();
  }

  RulePart literal() {
    in_.skip(1);
    std::string text;
    while (!in_.take("\"")) {
      if (in_.done()) in_.malformed("a literal is not closed");
      append_utf8(literal_character(), &text);
    }
    return rules_.expr(pool_.literal(text));
  }

  CharSet characters() {
    in_.skip(1);
    const bool negated = in_.take("^");
    std::vector<CharSet::Range> ranges;
    while (!in_.take("]")) {
      if (in_.done()) in_.malformed("a class is not closed");
      const char32_t low = literal_character();
      char32_t high = low;
      if (in_.peek() == '-' && in_.peek(1) != ']') {
        in_.skip(1);
        if (in_.done()) in_.malformed("a class is not closed");
        high = literal_character();
        if (high < low) in_.malformed("a range of characters runs backwards");
      }
      ranges.push_back({low, high});
    }
    const CharSet set = CharSet::of(std::move(ranges));
    return negated ? ~set : set;
  }

  RuleReader in_;
  ExprPool& pool_;
  RuleSet& rules_;
  size_t depth_ = 0;
};

}  // namespace

uint32_t parse_gbnf(std::string_view text, ExprPool* pool, RuleSet* rules) {
  // Groups are read within one another.
  const auto groups = std::count(text.begin(), text.end(), '(');
  return call_nested(static_cast<size_t>(groups),
                     [&] { return GbnfParser(text, pool, rules).parse(); });
}

}  // namespace rc::text::grammar
