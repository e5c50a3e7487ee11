// The right sides of rules: how they are given, and which are regular.
#include <utility>

#include "text/grammar/rule_set.h"

namespace rc::text::grammar {

RulePart RuleSet::add_part(Part part) {
  parts_.push_back(std::move(part));
  return static_cast<RulePart>(parts_.size() - 1);
}

RulePart RuleSet::expr(ExprId expr) {
  return add_part({.kind = Part::Kind::kExpr, .expr = expr});
}

RulePart RuleSet::reference(uint32_t rule) {
  return add_part({.kind = Part::Kind::kRule, .rule = rule});
}

RulePart RuleSet::sequence(std::vector<RulePart> parts) {
  return add_part(
      {.kind = Part::Kind::kSequence, .children = std::move(parts)});
}

RulePart RuleSet::choice(std::vector<RulePart> parts) {
  return add_part({.kind = Part::Kind::kChoice, .children = std::move(parts)});
}

RulePart RuleSet::repeat(RulePart part, uint32_t min, uint32_t max) {
  return add_part({.kind = Part::Kind::kRepeat,
                   .min = min,
                   .max = max,
                   .children = {part}});
}

RulePart RuleSet::without_left_recursion(uint32_t rule, RulePart body) {
  std::vector<RulePart> ways = {body};
  if (parts_[body].kind == Part::Kind::kChoice) ways = parts_[body].children;
  const auto is_self = [&](RulePart part) {
    return parts_[part].kind == Part::Kind::kRule && parts_[part].rule == rule;
  };
  std::vector<RulePart> first;
  std::vector<RulePart> again;
  for (const RulePart way : ways) {
    if (is_self(way)) continue;  // says nothing
    const std::vector<RulePart>& parts = parts_[way].children;
    if (parts_[way].kind == Part::Kind::kSequence && !parts.empty() &&
        is_self(parts[0])) {
      again.push_back(sequence({parts.begin() + 1, parts.end()}));
    } else {
      first.push_back(way);
    }
  }
  const RulePart begin = choice(std::move(first));
  if (again.empty()) return begin;
  const RulePart rest = choice(std::move(again));
  return sequence({begin, repeat(rest, 0, kUnbounded)});
}

// The expression of a part whose children have theirs.
ExprId RuleSet::fold(const Part& part) {
  std::vector<ExprId> exprs;
  for (const RulePart child : part.children) {
    exprs.push_back(*parts_[child].expr);
  }
  if (part.kind == Part::Kind::kSequence) return pool_.concat(exprs);
  if (part.kind == Part::Kind::kChoice) return pool_.either(std::move(exprs));
  return pool_.repeat(exprs[0], part.min, part.max);
}

// Finds the expressions of all parts that are regular and have no rule but
// such.
void RuleSet::fold_rules() {
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> outer(parts_.size(), kNone);
  std::vector<uint32_t> missing(parts_.size(), 0);  // children to be folded
  std::vector<uint32_t> body_of(parts_.size(), kNone);
  std::vector<std::vector<RulePart>> references(rules_.size());
  std::vector<RulePart> ready;
  for (uint32_t i = 0; i < rules_.size(); ++i) body_of[*rules_[i].body] = i;
  for (RulePart i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    for (const RulePart child : part.children) outer[child] = i;
    missing[i] = static_cast<uint32_t>(part.children.size());
    if (part.kind == Part::Kind::kRule) {
      references[part.rule].push_back(i);
    } else if (missing[i] == 0) {
      ready.push_back(i);
    }
  }
  while (!ready.empty()) {
    const RulePart i = ready.back();
    ready.pop_back();
    if (!parts_[i].expr) parts_[i].expr = fold(parts_[i]);
    if (outer[i] != kNone && --missing[outer[i]] == 0) {
      ready.push_back(outer[i]);
    }
    if (body_of[i] == kNone) continue;
    for (const RulePart reference : references[body_of[i]]) {
      parts_[reference].expr = parts_[i].expr;
      ready.push_back(reference);
    }
  }
}

}  // namespace rc::text::grammar
