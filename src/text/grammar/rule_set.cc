#include "text/grammar/rule_set.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/quote.h"

namespace rc::text::grammar {
namespace {

// The most repetitions of a part that is not regular; regular parts may be
// repeated more often.
constexpr uint32_t kMaxRuleRepeats = 2'000;

}  // namespace

uint32_t RuleSet::rule(std::string_view name) {
  const auto [at, added] = by_name_.try_emplace(
      std::string(name), static_cast<uint32_t>(rules_.size()));
  if (added) rules_.push_back({.name = std::string(name), .owner = at->second});
  return at->second;
}

void RuleSet::define(uint32_t rule, RulePart body) {
  if (defined(rule)) {
    fail(RC_E_INVALID_ARGUMENT, "grammar: the rule ", quote(name(rule)),
         " is defined twice");
  }
  rules_[rule].body = body;
}

void RuleSet::compile(uint32_t root) {
  root_ = root;
  for (const Rule& rule : rules_) {
    if (!rule.body) {
      fail(RC_E_INVALID_ARGUMENT, "grammar: the rule ", quote(rule.name),
           " is not defined");
    }
  }
  fold_rules();
  const size_t given = rules_.size();
  for (uint32_t i = 0; i < given; ++i) {
    const Part& body = parts_[*rules_[i].body];
    if (body.expr) {
      add_alternative(i, {{Symbol::Kind::kExpr, *body.expr}});
    } else if (body.kind == Part::Kind::kChoice) {
      for (const RulePart child : body.children) {
        add_alternative(i, symbols_of(child, i));
      }
    } else {
      add_alternative(i, symbols_of(*rules_[i].body, i));
    }
  }
  find_productive();
  refuse_left_recursion();
  if (!rules_[root].productive) {
    fail(RC_E_INVALID_ARGUMENT, "grammar: no text matches the rule ",
         quote(rules_[root].name));
  }
}

uint32_t RuleSet::add_rule(uint32_t owner) {
  rules_.push_back({.owner = owner});
  return static_cast<uint32_t>(rules_.size() - 1);
}

void RuleSet::check_symbols(size_t more, uint32_t owner) const {
  if (symbols_.size() + more >= limits_.max_symbols) {
    fail(RC_E_UNSUPPORTED, "grammar: the rule ", quote(name(owner)),
         " and others take more than ", limits_.max_symbols,
         " symbols; repeat less often");
  }
}

void RuleSet::add_alternative(uint32_t rule,
                              const std::vector<Symbol>& symbols) {
  check_symbols(symbols.size(), rule);
  rules_[rule].starts.push_back(static_cast<uint32_t>(symbols_.size()));
  symbols_.insert(symbols_.end(), symbols.begin(), symbols.end());
  symbols_.push_back({Symbol::Kind::kEnd, 0});
}

// The symbols of a part, whose choices and repetitions become rules.
std::vector<RuleSet::Symbol> RuleSet::symbols_of(RulePart part,
                                                 uint32_t owner) {
  struct Open {
    RulePart part;
    uint32_t rule = 0;          // of a choice
    size_t child = 0;           // that is next
    std::vector<Symbol> all{};  // of a sequence, so far
  };
  std::vector<Open> open;
  std::vector<Symbol> result;
  // Symbols that wait in `open`; each of them becomes one at least.
  size_t waiting = 0;
  // Opens a part, or gives its symbols in `result`; then it is false.
  const auto begin = [&](RulePart next) {
    const Part& begun = parts_[next];
    result.clear();
    if (begun.expr) {
      if (*begun.expr != ExprPool::kEmpty) {
        result = {{Symbol::Kind::kExpr, *begun.expr}};
      }
      return false;
    }
    if (begun.kind == Part::Kind::kRule) {
      result = {{Symbol::Kind::kRule, begun.rule}};
      return false;
    }
    open.push_back({.part = next});
    if (begun.kind == Part::Kind::kChoice) open.back().rule = add_rule(owner);
    return true;
  };
  bool ready = !begin(part);
  while (!open.empty()) {
    Open& at = open.back();
    const Part& outer = parts_[at.part];
    if (ready) {
      // The symbols of the child before.
      if (outer.kind == Part::Kind::kSequence) {
        waiting += result.size();
        check_symbols(waiting, owner);
        at.all.insert(at.all.end(), result.begin(), result.end());
      } else if (outer.kind == Part::Kind::kChoice) {
        add_alternative(at.rule, result);
      } else {
        result = repeat_symbols(outer, owner, result);
      }
    }
    if (at.child < outer.children.size()) {
      ready = !begin(outer.children[at.child++]);
      continue;
    }
    if (outer.kind == Part::Kind::kSequence) {
      waiting -= at.all.size();
      result = std::move(at.all);
    } else if (outer.kind == Part::Kind::kChoice) {
      result = {{Symbol::Kind::kRule, at.rule}};
    }
    open.pop_back();
    ready = true;
  }
  return result;
}

std::vector<RuleSet::Symbol> RuleSet::repeat_symbols(
    const Part& part, uint32_t owner, const std::vector<Symbol>& once) {
  const bool bounded = part.max != kUnbounded;
  if ((bounded ? part.max : part.min) > kMaxRuleRepeats) {
    fail(RC_E_UNSUPPORTED, "grammar: the rule ", quote(name(owner)),
         " repeats something more than ", kMaxRuleRepeats, " times");
  }
  check_symbols(part.min * once.size(), owner);
  // From the end: what may come once more, and after that the rest.
  std::vector<Symbol> rest;
  for (uint32_t i = part.min; bounded ? i < part.max : i == part.min; ++i) {
    const uint32_t more = add_rule(owner);
    std::vector<Symbol> again = once;
    if (bounded) {
      again.insert(again.end(), rest.begin(), rest.end());
    } else {
      again.push_back({Symbol::Kind::kRule, more});
    }
    add_alternative(more, {});
    add_alternative(more, again);
    rest = {{Symbol::Kind::kRule, more}};
  }
  std::vector<Symbol> all;
  for (uint32_t i = 0; i < part.min; ++i) {
    all.insert(all.end(), once.begin(), once.end());
  }
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

}  // namespace rc::text::grammar
