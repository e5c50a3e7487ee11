// Following the rules of a grammar: where a text may be within them.
#include <algorithm>

#include "base/error.h"
#include "text/grammar/rule_set.h"
#include "text/grammar/work.h"

namespace rc::text::grammar {

std::vector<TaggedExpr> RuleSet::begin() {
  std::vector<TaggedExpr> parts;
  for (const uint32_t start : rules_[root_].starts) run({start, kEnd}, &parts);
  return parts;
}

void RuleSet::follow(uint32_t tag, std::vector<TaggedExpr>* parts) {
  if (tag != kEnd) run({stacks_[tag].symbol, stacks_[tag].parent}, parts);
}

void RuleSet::run(Visit first, std::vector<TaggedExpr>* parts) {
  std::vector<Visit> queue = {first};
  for (size_t i = 0; i < queue.size(); ++i) {
    // The queue is searched for what is added.
    Work::walk(1 + queue.size() / 16);
    visit(queue[i], &queue, parts);
  }
}

// Expressions that come next are added to the parts, with what follows them if
// they may be empty; other ways to go on to the queue.
void RuleSet::visit(Visit at, std::vector<Visit>* queue,
                    std::vector<TaggedExpr>* parts) {
  const auto add = [&](Visit next) {
    if (std::find(queue->begin(), queue->end(), next) == queue->end()) {
      queue->push_back(next);
    }
  };
  const auto resume = [&](uint32_t stack) {
    if (stack == kEnd) {
      parts->emplace_back(ExprPool::kEmpty, kEnd);
    } else {
      add({stacks_[stack].symbol, stacks_[stack].parent});
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
  for (const uint32_t start : rules_[symbol.id].starts) add({start, after});
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
