// Following the rules of a grammar: where a text may be within them.
#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "text/grammar/rule_set.h"
#include "text/grammar/work.h"

namespace rc::text::grammar {

class RuleSet::Visits {
 public:
  void add(const Visit& visit) {
    // A few are found faster in a list.
    constexpr size_t kFew = 16;
    if (list_.size() < kFew) {
      if (std::find(list_.begin(), list_.end(), visit) != list_.end()) return;
    } else {
      for (; seen_.size() < list_.size();) {
        seen_.insert(key(list_[seen_.size()]));
      }
      if (!seen_.insert(key(visit)).second) return;
    }
    list_.push_back(visit);
  }
  size_t size() const { return list_.size(); }
  const Visit& operator[](size_t i) const { return list_[i]; }

 private:
  static uint64_t key(const Visit& visit) {
    return uint64_t{visit.symbol} << 32 | visit.parent;
  }

  std::vector<Visit> list_;
  std::unordered_set<uint64_t> seen_;
};

std::vector<TaggedExpr> RuleSet::begin() {
  std::vector<TaggedExpr> parts;
  Visits visits;
  for (const uint32_t start : rules_[root_].starts) visits.add({start, kEnd});
  run(&visits, &parts);
  return parts;
}

void RuleSet::follow(uint32_t tag, std::vector<TaggedExpr>* parts) {
  if (tag == kEnd) return;
  Visits visits;
  visits.add({stacks_[tag].symbol, stacks_[tag].parent});
  run(&visits, parts);
}

void RuleSet::run(Visits* visits, std::vector<TaggedExpr>* parts) {
  for (size_t i = 0; i < visits->size(); ++i) {
    Work::walk(1);
    visit((*visits)[i], visits, parts);
  }
}

// Expressions that come next are added to the parts, with what follows them if
// they may be empty; other ways to go on to the visits.
void RuleSet::visit(Visit at, Visits* visits, std::vector<TaggedExpr>* parts) {
  const auto resume = [&](uint32_t stack) {
    if (stack == kEnd) {
      parts->emplace_back(ExprPool::kEmpty, kEnd);
    } else {
      visits->add({stacks_[stack].symbol, stacks_[stack].parent});
    }
  };
  const Symbol symbol = symbols_[at.symbol];
  if (symbol.kind == Symbol::Kind::kEnd) {
    resume(at.parent);
    return;
  }
  // With nothing left to do here the parent goes on at once: repetitions and
  // other rules that end with a rule take no room.
  const bool last = symbols_[at.symbol + 1].kind == Symbol::Kind::kEnd;
  const uint32_t after = last ? at.parent : push(at.parent, at.symbol + 1);
  if (stacks_[after].depth > limits_.max_depth) return;
  if (symbol.kind == Symbol::Kind::kExpr) {
    parts->emplace_back(symbol.id, after);
    if (pool_.nullable(symbol.id)) resume(after);
    return;
  }
  for (const uint32_t start : rules_[symbol.id].starts) {
    visits->add({start, after});
  }
}

uint32_t RuleSet::push(uint32_t parent, uint32_t symbol) {
  const uint64_t key = uint64_t{parent} << 32 | symbol;
  const auto [at, added] =
      stack_ids_.try_emplace(key, static_cast<uint32_t>(stacks_.size()));
  if (added) {
    if (stacks_.size() >= limits_.max_stacks) {
      stack_ids_.erase(at);
      fail(RC_E_UNSUPPORTED, "grammar: texts take more than ",
           limits_.max_stacks, " ways to be within its rules");
    }
    stacks_.push_back({parent, symbol, stacks_[parent].depth + 1});
  }
  return at->second;
}

}  // namespace rc::text::grammar
