#include "text/grammar/rule_set.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/quote.h"

namespace rc::text::grammar {
namespace {

// Of what is not regular; regular parts may be repeated more often.
constexpr uint32_t kMaxRuleRepeats = 2'000;

}  // namespace

RuleNode RuleNode::repeat(RuleNode child, uint32_t min, uint32_t max) {
  RuleNode node = {.kind = Kind::kRepeat, .min = min, .max = max};
  node.children.push_back(std::move(child));
  return node;
}

uint32_t RuleSet::rule(std::string_view name) {
  const auto [at, added] = by_name_.try_emplace(
      std::string(name), static_cast<uint32_t>(rules_.size()));
  if (added) rules_.push_back({.name = std::string(name)});
  return at->second;
}

void RuleSet::define(uint32_t rule, RuleNode body) {
  if (defined(rule)) {
    fail(RC_E_INVALID_ARGUMENT, "grammar: the rule ", quote(name(rule)),
         " is defined twice");
  }
  rules_[rule].body = std::move(body);
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
    const RuleNode body = *rules_[i].body;
    if (rules_[i].expr) {
      add_alternative(i, {{Symbol::Kind::kExpr, *rules_[i].expr}});
    } else if (body.kind == RuleNode::Kind::kChoice) {
      for (const RuleNode& child : body.children) {
        add_alternative(i, symbols_of(child, i));
      }
    } else {
      add_alternative(i, symbols_of(body, i));
    }
  }
  find_productive();
  refuse_left_recursion();
  if (!rules_[root].productive) {
    fail(RC_E_INVALID_ARGUMENT, "grammar: no text matches the rule ",
         quote(rules_[root].name));
  }
}

// The expression of a part that is regular and has no rule but such.
std::optional<ExprId> RuleSet::fold(const RuleNode& node) {
  std::vector<ExprId> parts;
  switch (node.kind) {
    case RuleNode::Kind::kExpr:
      return node.expr;
    case RuleNode::Kind::kRule:
      return rules_[node.rule].expr;
    default:
      break;
  }
  for (const RuleNode& child : node.children) {
    const std::optional<ExprId> part = fold(child);
    if (!part) return std::nullopt;
    parts.push_back(*part);
  }
  if (node.kind == RuleNode::Kind::kSequence) return pool_.concat(parts);
  if (node.kind == RuleNode::Kind::kChoice) return pool_.either(parts);
  return pool_.repeat(parts[0], node.min, node.max);
}

void RuleSet::fold_rules() {
  // Rules that only use folded ones are folded next, until there are no more.
  for (bool changed = true; changed;) {
    changed = false;
    for (Rule& rule : rules_) {
      if (rule.expr) continue;
      rule.expr = fold(*rule.body);
      changed = changed || rule.expr.has_value();
    }
  }
}

uint32_t RuleSet::add_rule(uint32_t owner) {
  rules_.push_back({.name = rules_[owner].name});
  return static_cast<uint32_t>(rules_.size() - 1);
}

void RuleSet::add_alternative(uint32_t rule, std::vector<Symbol> symbols) {
  if (symbols_.size() + symbols.size() >= limits_.max_symbols) {
    fail(RC_E_UNSUPPORTED, "grammar: the rule ", quote(rules_[rule].name),
         " and others take more than ", limits_.max_symbols,
         " symbols; repeat less often");
  }
  rules_[rule].starts.push_back(static_cast<uint32_t>(symbols_.size()));
  symbols_.insert(symbols_.end(), symbols.begin(), symbols.end());
  symbols_.push_back({Symbol::Kind::kEnd, 0});
}

std::vector<RuleSet::Symbol> RuleSet::symbols_of(const RuleNode& node,
                                                 uint32_t owner) {
  if (const std::optional<ExprId> expr = fold(node)) {
    if (*expr == ExprPool::kEmpty) return {};
    return {{Symbol::Kind::kExpr, *expr}};
  }
  switch (node.kind) {
    case RuleNode::Kind::kSequence: {
      std::vector<Symbol> all;
      for (const RuleNode& child : node.children) {
        const std::vector<Symbol> part = symbols_of(child, owner);
        all.insert(all.end(), part.begin(), part.end());
      }
      return all;
    }
    case RuleNode::Kind::kChoice: {
      const uint32_t inner = add_rule(owner);
      for (const RuleNode& child : node.children) {
        add_alternative(inner, symbols_of(child, owner));
      }
      return {{Symbol::Kind::kRule, inner}};
    }
    case RuleNode::Kind::kRepeat:
      return repeat_symbols(node, owner);
    default:
      return {{Symbol::Kind::kRule, node.rule}};
  }
}

std::vector<RuleSet::Symbol> RuleSet::repeat_symbols(const RuleNode& node,
                                                     uint32_t owner) {
  const bool bounded = node.max != kUnbounded;
  if ((bounded ? node.max : node.min) > kMaxRuleRepeats) {
    fail(RC_E_UNSUPPORTED, "grammar: the rule ", quote(rules_[owner].name),
         " repeats something more than ", kMaxRuleRepeats, " times");
  }
  const std::vector<Symbol> once = symbols_of(node.children[0], owner);
  // From the end: what may come once more, and after that the rest.
  std::vector<Symbol> rest;
  for (uint32_t i = node.min; bounded ? i < node.max : i == node.min; ++i) {
    const uint32_t more = add_rule(owner);
    std::vector<Symbol> again = once;
    if (bounded) {
      again.insert(again.end(), rest.begin(), rest.end());
    } else {
      again.push_back({Symbol::Kind::kRule, more});
    }
    add_alternative(more, {});
    add_alternative(more, std::move(again));
    rest = {{Symbol::Kind::kRule, more}};
  }
  std::vector<Symbol> all;
  for (uint32_t i = 0; i < node.min; ++i) {
    all.insert(all.end(), once.begin(), once.end());
  }
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

bool RuleSet::alternative_holds(uint32_t start, bool Rule::*property,
                                bool exprs_nullable) const {
  for (uint32_t at = start; symbols_[at].kind != Symbol::Kind::kEnd; ++at) {
    const Symbol& symbol = symbols_[at];
    const bool holds = symbol.kind == Symbol::Kind::kRule
                           ? rules_[symbol.id].*property
                           : !exprs_nullable || pool_.nullable(symbol.id);
    if (!holds) return false;
  }
  return true;
}

void RuleSet::find_productive() {
  for (bool changed = true; changed;) {
    changed = false;
    for (Rule& rule : rules_) {
      for (const uint32_t start : rule.starts) {
        if (!rule.productive &&
            alternative_holds(start, &Rule::productive, false)) {
          rule.productive = changed = true;
        }
        if (!rule.nullable && alternative_holds(start, &Rule::nullable, true)) {
          rule.nullable = changed = true;
        }
      }
    }
  }
  // Alternatives that never end lead nowhere.
  for (Rule& rule : rules_) {
    std::erase_if(rule.starts, [&](uint32_t start) {
      return !alternative_holds(start, &Rule::productive, false);
    });
  }
}

// A rule that begins with itself, with something after it, would be entered
// again and again before anything is read.
void RuleSet::refuse_left_recursion() const {
  struct First {
    uint32_t rule;
    bool last;  // nothing comes after it
  };
  std::vector<std::vector<First>> firsts(rules_.size());
  for (size_t i = 0; i < rules_.size(); ++i) {
    for (const uint32_t start : rules_[i].starts) {
      for (uint32_t at = start; symbols_[at].kind != Symbol::Kind::kEnd; ++at) {
        const Symbol& symbol = symbols_[at];
        if (symbol.kind == Symbol::Kind::kRule) {
          firsts[i].push_back(
              {symbol.id, symbols_[at + 1].kind == Symbol::Kind::kEnd});
          if (!rules_[symbol.id].nullable) break;
        } else if (!pool_.nullable(symbol.id)) {
          break;
        }
      }
    }
  }
  for (uint32_t rule = 0; rule < rules_.size(); ++rule) {
    // All that a step with something after it leads to.
    std::vector<bool> seen(rules_.size(), false);
    std::vector<uint32_t> queue;
    for (const First& first : firsts[rule]) {
      if (!first.last && !seen[first.rule]) {
        seen[first.rule] = true;
        queue.push_back(first.rule);
      }
    }
    for (size_t i = 0; i < queue.size(); ++i) {
      for (const First& first : firsts[queue[i]]) {
        if (seen[first.rule]) continue;
        seen[first.rule] = true;
        queue.push_back(first.rule);
      }
    }
    if (seen[rule]) {
      fail(RC_E_UNSUPPORTED, "grammar: the rule ", quote(rules_[rule].name),
           " begins with itself (left recursion); write it with a repetition");
    }
  }
}

}  // namespace rc::text::grammar
