// Which rules have texts, which may be empty, and which begin with themselves.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/quote.h"
#include "text/grammar/rule_set.h"

namespace rc::text::grammar {

template <class HasIt>
void RuleSet::spread(bool Rule::*property, HasIt expr_has_it) {
  struct Alternative {
    uint32_t rule;
    uint32_t missing = 0;  // symbols without the property
  };
  std::vector<Alternative> alternatives;
  std::vector<std::vector<uint32_t>> uses(rules_.size());  // in alternatives
  std::vector<uint32_t> found;                             // rules that have it
  const auto find = [&](uint32_t rule) {
    if (rules_[rule].*property) return;
    rules_[rule].*property = true;
    found.push_back(rule);
  };
  for (uint32_t rule = 0; rule < rules_.size(); ++rule) {
    for (const uint32_t start : rules_[rule].starts) {
      const auto id = static_cast<uint32_t>(alternatives.size());
      alternatives.push_back({rule});
      for (uint32_t at = start; symbols_[at].kind != Symbol::Kind::kEnd; ++at) {
        const Symbol& symbol = symbols_[at];
        if (symbol.kind == Symbol::Kind::kRule) {
          uses[symbol.id].push_back(id);
        } else if (expr_has_it(symbol.id)) {
          continue;
        }
        ++alternatives[id].missing;
      }
      if (alternatives[id].missing == 0) find(rule);
    }
  }
  while (!found.empty()) {
    const uint32_t rule = found.back();
    found.pop_back();
    for (const uint32_t use : uses[rule]) {
      if (--alternatives[use].missing == 0) find(alternatives[use].rule);
    }
  }
}

void RuleSet::find_productive() {
  const auto has_texts = [](ExprId expr) { return expr != ExprPool::kNothing; };
  spread(&Rule::productive, has_texts);
  spread(&Rule::nullable, [&](ExprId expr) { return pool_.nullable(expr); });
  // Alternatives that never end lead nowhere.
  for (Rule& rule : rules_) {
    std::erase_if(rule.starts, [&](uint32_t start) {
      for (uint32_t at = start; symbols_[at].kind != Symbol::Kind::kEnd; ++at) {
        const Symbol& symbol = symbols_[at];
        if (symbol.kind == Symbol::Kind::kRule ? !rules_[symbol.id].productive
                                               : !has_texts(symbol.id)) {
          return true;
        }
      }
      return false;
    });
  }
}

std::vector<std::vector<RuleSet::First>> RuleSet::find_firsts() const {
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
  return firsts;
}

// A rule that begins with itself, with something after it, would be entered
// again and again before anything is read. Such a step stays within one
// strongly connected component of the rules (R. Tarjan, "Depth-first search and
// linear graph algorithms", 1972).
void RuleSet::refuse_left_recursion() const {
  const std::vector<std::vector<First>> firsts = find_firsts();
  struct Open {
    uint32_t rule;
    size_t next = 0;
  };
  constexpr uint32_t kNew = UINT32_MAX;
  std::vector<uint32_t> order(rules_.size(), kNew);
  std::vector<uint32_t> low(rules_.size(), 0);
  std::vector<uint32_t> component(rules_.size(), kNew);
  std::vector<uint32_t> pending;
  std::vector<Open> open;
  uint32_t count = 0;
  const auto begin = [&](uint32_t rule) {
    order[rule] = low[rule] = count++;
    pending.push_back(rule);
    open.push_back({rule});
  };
  for (uint32_t root = 0; root < rules_.size(); ++root) {
    if (order[root] == kNew) begin(root);
    while (!open.empty()) {
      const uint32_t rule = open.back().rule;
      if (open.back().next < firsts[rule].size()) {
        const uint32_t to = firsts[rule][open.back().next++].rule;
        if (order[to] == kNew) {
          begin(to);
        } else if (component[to] == kNew) {
          low[rule] = std::min(low[rule], order[to]);
        }
        continue;
      }
      open.pop_back();
      if (!open.empty()) {
        uint32_t& outer = low[open.back().rule];
        outer = std::min(outer, low[rule]);
      }
      if (low[rule] != order[rule]) continue;
      while (component[rule] == kNew) {
        component[pending.back()] = rule;
        pending.pop_back();
      }
    }
  }
  for (uint32_t rule = 0; rule < rules_.size(); ++rule) {
    for (const First& first : firsts[rule]) {
      if (first.last || component[first.rule] != component[rule]) continue;
      fail(RC_E_UNSUPPORTED, "grammar: the rule ", quote(name(rule)),
           " begins with itself (left recursion); write it with a repetition");
    }
  }
}

}  // namespace rc::text::grammar
