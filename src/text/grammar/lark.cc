#include "text/grammar/lark.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/nested_calls.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "text/grammar/lark_common.h"
#include "text/grammar/regex_syntax.h"
#include "text/grammar/rule_reader.h"

namespace rc::text::grammar {
namespace {

constexpr size_t kMaxLarkNesting = 100;  // of groups

bool is_terminal(std::string_view name) {
  const size_t first = name.find_first_not_of('_');
  return first != std::string_view::npos && name[first] >= 'A' &&
         name[first] <= 'Z';
}

class LarkParser {
 public:
  LarkParser(std::string_view text, ExprPool* pool, RuleSet* rules)
      : in_(text), pool_(*pool), rules_(*rules) {
    ignored_ = rules_.rule("%ignore");
  }

  uint32_t parse() {
    for (skip_lines(); !in_.done(); skip_lines()) {
      if (in_.take("%")) {
        directive();
      } else {
        definition();
      }
    }
    const uint32_t start = rules_.rule("start");
    if (!rules_.defined(start)) in_.malformed("there is no rule \"start\"");
    rules_.define(ignored_, rules_.repeat(rules_.choice(std::move(ignore_)), 0,
                                          kUnbounded));
    const uint32_t text = rules_.rule("%text");
    const RulePart ignored = rules_.reference(ignored_);
    rules_.define(text, rules_.sequence({ignored, rules_.reference(start)}));
    return text;
  }

 private:
  void skip_space() {
    while (in_.peek() == ' ' || in_.peek() == '\t') in_.skip(1);
    if (in_.peek() == '#' || (in_.peek() == '/' && in_.peek(1) == '/')) {
      while (!in_.done() && in_.peek() != '\n') in_.skip(1);
    }
  }
  void skip_lines() {
    for (skip_space(); in_.peek() == '\n' || in_.peek() == '\r'; skip_space()) {
      in_.skip(1);
    }
  }

  std::string_view take_name() {
    const size_t from = in_.at();
    while (is_name_byte(in_.peek())) in_.skip(1);
    if (in_.at() == from) in_.malformed("a name has to stand here");
    return in_.since(from);
  }

  void end_line() {
    skip_space();
    if (!in_.done() && in_.peek() != '\n' && in_.peek() != '\r') {
      in_.malformed("this has to be the end of the line");
    }
  }

  void directive() {
    const std::string_view name = take_name();
    skip_space();
    if (name == "ignore") {
      in_terminal_ = true;
      ignore_.push_back(alternatives());
      end_line();
    } else if (name == "import") {
      import();
    } else {
      in_.unsupported("the directive %", name, " is not supported");
    }
  }

  void import() {
    if (!in_.take("common")) {
      in_.unsupported("only terminals of \"common\" can be imported");
    }
    skip_space();
    if (in_.take(".")) {
      const std::string_view name = take_name();
      skip_space();
      std::string_view as = name;
      if (in_.take("->")) {
        skip_space();
        as = take_name();
      }
      define_common(name, as);
    } else if (in_.take("(")) {
      do {
        skip_space();
        const std::string_view name = take_name();
        define_common(name, name);
        skip_space();
      } while (in_.take(","));
      if (!in_.take(")")) in_.malformed("'(' without ')'");
    } else {
      in_.malformed("a terminal has to follow");
    }
    end_line();
  }

  void define_common(std::string_view name, std::string_view as) {
    for (const CommonTerminal& known : kCommonTerminals) {
      if (known.name != name) continue;
      const ExprId expr = parse_regex(known.pattern, {}, &pool_);
      in_.here([&] { rules_.define(rules_.rule(as), rules_.expr(expr)); });
      return;
    }
    in_.unsupported("\"common\" has no terminal ", quote(name),
                    " that is supported");
  }

  void definition() {
    if (in_.peek() == '?' || in_.peek() == '!') in_.skip(1);  // shape trees
    const std::string_view name = take_name();
    if (in_.take(".")) {
      in_.take("-");
      in_.number();  // a priority
    }
    if (in_.peek() == '{' || in_.peek() == '[') {
      in_.unsupported("templates and attributes are not supported");
    }
    skip_space();
    if (!in_.take(":")) in_.malformed("':' has to follow a name");
    in_terminal_ = is_terminal(name);
    const uint32_t rule = rules_.rule(name);
    const RulePart body = rules_.without_left_recursion(rule, alternatives());
    end_line();
    in_.here([&] { rules_.define(rule, body); });
  }

  RulePart alternatives() {
    if (++depth_ > kMaxLarkNesting) {
      in_.unsupported("more than ", kMaxLarkNesting, " groups in one another");
    }
    std::vector<RulePart> ways;
    do {
      skip_lines();
      ways.push_back(sequence());
    } while (next_alternative());
    --depth_;
    return rules_.choice(std::move(ways));
  }

  // The next alternative may begin on a new line.
  bool next_alternative() {
    const size_t back = in_.at();
    skip_lines();
    if (in_.take("|")) return true;
    // Within a group lines don't end anything.
    if (depth_ <= 1) in_.go_to(back);
    return false;
  }

  RulePart sequence() {
    std::vector<RulePart> all;
    for (;;) {
      skip_space();
      if (depth_ > 1) skip_lines();
      if (in_.take("->")) {
        skip_space();
        take_name();
        continue;
      }
      const char c = in_.peek();
      if (!is_name_byte(c) &&
          (c == '\0' ||
           std::string_view("\"/([<%@").find(c) == std::string_view::npos)) {
        break;
      }
      all.push_back(repeated(part()));
    }
    return all.size() == 1 ? all[0] : rules_.sequence(std::move(all));
  }

  RulePart repeated(RulePart part) {
    if (in_.take("*")) return rules_.repeat(part, 0, kUnbounded);
    if (in_.take("+")) return rules_.repeat(part, 1, kUnbounded);
    if (in_.take("?")) return rules_.repeat(part, 0, 1);
    skip_space();
    if (!in_.take("~")) return part;
    skip_space();
    const std::optional<uint32_t> min = in_.number();
    if (!min) in_.malformed("a number has to follow '~'");
    std::optional<uint32_t> max = min;
    if (in_.take("..")) max = in_.number();
    if (!max || *max < *min) in_.malformed("the bounds run backwards");
    return rules_.repeat(part, *min, *max);
  }

  RulePart part() {
    if (in_.take("(")) return group(")");
    if (in_.take("[")) return rules_.repeat(group("]"), 0, 1);
    if (in_.peek() == '"') return lexeme(literal());
    if (in_.peek() == '/') return lexeme(regex());
    if (!is_name_byte(in_.peek())) {
      in_.unsupported("special tokens and nested grammars are not supported");
    }
    const std::string_view name = take_name();
    if (in_.peek() == '{' || in_.peek() == '[') {
      in_.unsupported("templates and attributes are not supported");
    }
    const RulePart part = rules_.reference(rules_.rule(name));
    if (is_terminal(name)) return lexeme(part);
    if (in_terminal_) in_.malformed("a terminal can't have rules in it");
    return part;
  }

  RulePart group(std::string_view close) {
    const RulePart inner = alternatives();
    if (!in_.take(close)) in_.malformed("'", close, "' has to stand here");
    return inner;
  }

  // In a rule, what is ignored may follow.
  RulePart lexeme(RulePart part) {
    if (in_terminal_) return part;
    return rules_.sequence({part, rules_.reference(ignored_)});
  }

  std::string quoted() {
    in_.skip(1);
    std::string text;
    while (!in_.take("\"")) {
      if (in_.done() || in_.peek() == '\n')
        in_.malformed("a string is not closed");
      append_utf8(in_.take("\\") ? in_.escape() : in_.character(), &text);
    }
    return text;
  }

  RulePart literal() {
    const std::string text = quoted();
    if (in_.take("..")) {
      if (in_.peek() != '"') in_.malformed("a string has to follow '..'");
      const std::string last = quoted();
      const auto one = [&](const std::string& s) {
        if (s.empty() || decode_utf8(s).size != s.size()) {
          in_.malformed("the ends of a range are one character each");
        }
        return decode_utf8(s).code_point;
      };
      if (one(last) < one(text)) in_.malformed("a range runs backwards");
      return rules_.expr(pool_.set(CharSet::of(one(text), one(last))));
    }
    if (!in_.take("i")) return rules_.expr(pool_.literal(text));
    std::string pattern;
    for (const char c : text) {
      if (std::string_view("\\^$.*+?()[]{}|/").find(c) !=
          std::string_view::npos) {
        pattern += '\\';
      }
      pattern += c;
    }
    return rules_.expr(parse_regex(pattern, {.ignore_case = true}, &pool_));
  }

  RulePart regex() {
    in_.skip(1);
    const size_t from = in_.at();
    bool in_class = false;
    while (in_class || in_.peek() != '/') {
      if (in_.done() || in_.peek() == '\n') {
        in_.malformed("a regular expression is not closed");
      }
      if (in_.peek() == '[') in_class = true;
      if (in_.peek() == ']') in_class = false;
      in_.skip(in_.peek() == '\\' ? 2 : 1);
    }
    const std::string pattern(in_.since(from));
    in_.skip(1);
    RegexOptions options;
    while (in_.peek() >= 'a' && in_.peek() <= 'z') {
      const char flag = in_.next();
      if (flag == 'i') {
        options.ignore_case = true;
      } else if (flag == 's') {
        options.dot_matches_newline = true;
      } else {
        in_.unsupported("the flag '", flag, "' is not supported");
      }
    }
    return in_.here(
        [&] { return rules_.expr(parse_regex(pattern, options, &pool_)); });
  }

  RuleReader in_;
  ExprPool& pool_;
  RuleSet& rules_;
  std::vector<RulePart> ignore_;
  uint32_t ignored_ = 0;
  bool in_terminal_ = false;
  size_t depth_ = 0;
};

}  // namespace

uint32_t parse_lark(std::string_view text, ExprPool* pool, RuleSet* rules) {
  // Groups are read within one another.
  const auto groups = std::count_if(
      text.begin(), text.end(), [](char c) { return c == '(' || c == '['; });
  return call_nested(static_cast<size_t>(groups),
                     [&] { return LarkParser(text, pool, rules).parse(); });
}

}  // namespace rc::text::grammar
