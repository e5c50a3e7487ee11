// Derivatives of expressions, and what is found by following them.
#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "text/grammar/expr.h"
#include "text/grammar/work.h"

namespace rc::text::grammar {

// Alternatives that are all looked at for each character.
constexpr size_t kFewAlternatives = 16;

void append_edge(std::vector<Edge>* edges, Edge edge) {
  if (edges->empty() || edges->back().next != edge.next) {
    edges->push_back(edge);
  }
}

std::vector<Edge> ExprPool::set_edges(const CharSet& set) const {
  std::vector<Edge> result;
  char32_t next = 0;
  for (const CharSet::Range& range : set.ranges()) {
    // Surrogates are no characters: what leads across them goes on.
    const bool across = range.low == kAfterSurrogates && next == kSurrogates;
    if (range.low > next && !across) append_edge(&result, {next, kNothing});
    append_edge(&result, {range.low, kEmpty});
    next = range.high + 1;
  }
  if (next <= kMaxCodePoint) append_edge(&result, {next, kNothing});
  return result;
}

template <class Combine>
std::vector<Edge> ExprPool::zip(const std::vector<ExprId>& parts,
                                Combine combine) {
  std::vector<const std::vector<Edge>*> lists;
  std::vector<char32_t> lows;
  for (const ExprId part : parts) {
    lists.push_back(&edges_.at(part));
    for (const Edge& edge : *lists.back()) lows.push_back(edge.low);
  }
  std::sort(lows.begin(), lows.end());
  lows.erase(std::unique(lows.begin(), lows.end()), lows.end());
  work(lows.size() * parts.size());
  std::vector<size_t> at(parts.size(), 0);
  std::vector<ExprId> values(parts.size());
  std::vector<ExprId> previous;
  std::vector<Edge> result;
  for (const char32_t low : lows) {
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::vector<Edge>& list = *lists[i];
      while (at[i] + 1 < list.size() && list[at[i] + 1].low <= low) ++at[i];
      values[i] = list[at[i]].next;
    }
    if (values == previous) continue;
    previous = values;
    append_edge(&result, {low, combine(values)});
  }
  return result;
}

// The same of many alternatives, of which few go on by any one character: each
// is handled where it changes.
std::vector<Edge> ExprPool::either_edges(const std::vector<ExprId>& parts) {
  struct Change {
    char32_t low;
    ExprId before;
    ExprId after;
  };
  std::vector<Change> changes;
  for (const ExprId part : parts) {
    ExprId before = kNothing;
    for (const Edge& edge : edges_.at(part)) {
      changes.push_back({edge.low, before, edge.next});
      before = edge.next;
    }
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.low < b.low; });
  std::map<ExprId, size_t> present;  // and how many alternatives go on so
  std::vector<Edge> result;
  for (size_t i = 0; i < changes.size();) {
    const char32_t low = changes[i].low;
    for (; i < changes.size() && changes[i].low == low; ++i) {
      const auto [before, after] =
          std::pair(changes[i].before, changes[i].after);
      ++present[after];
      // There is none before the first edge.
      if (low == 0) continue;
      const auto gone = present.find(before);
      if (--gone->second == 0) present.erase(gone);
    }
    work(present.size());
    std::vector<ExprId> next;
    for (const auto& [expr, count] : present) next.push_back(expr);
    append_edge(&result, {low, either(std::move(next))});
  }
  return result;
}

std::vector<Edge> ExprPool::derivatives(ExprId x) {
  // A copy: deriving adds nodes.
  const Node node = nodes_[x];
  switch (node.kind) {
    case Kind::kNothing:
    case Kind::kEmpty:
      return {{0, kNothing}};
    case Kind::kSet:
      return set_edges(node.set);
    case Kind::kConcat: {
      const ExprId left = node.children[0];
      const ExprId right = node.children[1];
      if (nodes_[left].nullable) {
        return zip({left, right}, [&](const std::vector<ExprId>& next) {
          return either(concat(next[0], right), next[1]);
        });
      }
      return zip({left}, [&](const std::vector<ExprId>& next) {
        return concat(next[0], right);
      });
    }
    case Kind::kEither:
      if (node.children.size() > kFewAlternatives)
        return either_edges(node.children);
      return zip(node.children,
                 [&](const std::vector<ExprId>& next) { return either(next); });
    case Kind::kBoth:
      return zip(node.children,
                 [&](const std::vector<ExprId>& next) { return both(next); });
    case Kind::kNegate:
      return zip(node.children, [&](const std::vector<ExprId>& next) {
        return negate(next[0]);
      });
    case Kind::kRepeat: {
      const uint32_t min = node.min == 0 ? 0 : node.min - 1;
      const uint32_t max = node.max == kUnbounded ? kUnbounded : node.max - 1;
      const ExprId rest = repeat(node.children[0], min, max);
      return zip(node.children, [&](const std::vector<ExprId>& next) {
        return concat(next[0], rest);
      });
    }
    case Kind::kMultiple:
      return multiple_edges(node);
  }
  return {{0, kNothing}};
}

void ExprPool::append_needed(ExprId x, std::vector<ExprId>* parts) const {
  const Node& node = nodes_[x];
  const auto need = [&](ExprId part) {
    if (!edges_.contains(part)) parts->push_back(part);
  };
  switch (node.kind) {
    case Kind::kConcat:
      need(node.children[0]);
      if (nodes_[node.children[0]].nullable) need(node.children[1]);
      break;
    case Kind::kEither:
    case Kind::kBoth:
    case Kind::kNegate:
    case Kind::kRepeat:
      for (const ExprId child : node.children) need(child);
      break;
    default:
      break;
  }
}

const std::vector<Edge>& ExprPool::edges(ExprId x) {
  const auto known = edges_.find(x);
  if (known != edges_.end()) return known->second;
  // The innermost parts first.
  std::vector<ExprId> open = {x};
  while (!open.empty()) {
    const ExprId next = open.back();
    const size_t size = open.size();
    append_needed(next, &open);
    if (open.size() > size) continue;
    open.pop_back();
    if (edges_.contains(next)) continue;
    std::vector<Edge> list = derivatives(next);
    store(list.size());
    Work::build(list.size() * (1 + nodes_[next].children.size() / 4));
    edges_.emplace(next, std::move(list));
  }
  return edges_.at(x);
}

ExprId ExprPool::derive(ExprId x, char32_t c) {
  const std::vector<Edge>& list = edges(x);
  const auto after = std::upper_bound(
      list.begin(), list.end(), c,
      [](char32_t value, const Edge& edge) { return value < edge.low; });
  return std::prev(after)->next;
}

bool ExprPool::live(ExprId x) {
  if (nodes_[x].life == Life::kUnknown) find_life(x);
  if (nodes_[x].life == Life::kNotFound) {
    fail(RC_E_UNSUPPORTED, "whether any text matches takes more than ",
         kMaxSearch,
         " steps to find out; simplify the regular expressions or the bounds "
         "of numbers that have to hold at once");
  }
  return nodes_[x].life == Life::kLive;
}

// Breadth first, to the nearest expression that is known to be live.
void ExprPool::find_life(ExprId x) {
  const uint64_t mark = Work::walked();
  std::vector<ExprId> queue = {x};
  std::unordered_map<ExprId, size_t> places = {{x, 0}};
  // From each expression to those that lead to it, as places in the queue.
  std::vector<std::pair<size_t, size_t>> ways;
  judge(x);
  if (nodes_[x].life != Life::kUnknown) return;
  for (size_t at = 0; at < queue.size(); ++at) {
    if (at > kMaxSearch) {
      nodes_[x].life = Life::kNotFound;
      return Work::keep(mark);
    }
    const std::vector<Edge>& list = edges(queue[at]);
    Work::walk(1 + list.size() / 8);
    for (const Edge& edge : list) {
      judge(edge.next);
      const Life life = nodes_[edge.next].life;
      if (life == Life::kDead) continue;
      const auto [place, added] = places.emplace(edge.next, queue.size());
      ways.emplace_back(place->second, at);
      if (!added) continue;
      queue.push_back(edge.next);
      if (life != Life::kLive) continue;
      spread_life(queue, std::move(ways));
      return Work::keep(mark);
    }
  }
  for (const ExprId dead : queue) nodes_[dead].life = Life::kDead;
  Work::keep(mark);
}

// The last expression of the queue is live, and so are all that lead there.
void ExprPool::spread_life(const std::vector<ExprId>& queue,
                           std::vector<std::pair<size_t, size_t>> ways) {
  std::sort(ways.begin(), ways.end());
  std::vector<size_t> reached = {queue.size() - 1};
  std::vector<bool> seen(queue.size());
  for (size_t i = 0; i < reached.size(); ++i) {
    nodes_[queue[reached[i]]].life = Life::kLive;
    auto way = std::lower_bound(ways.begin(), ways.end(),
                                std::pair<size_t, size_t>(reached[i], 0));
    for (; way != ways.end() && way->first == reached[i]; ++way) {
      if (seen[way->second]) continue;
      seen[way->second] = true;
      reached.push_back(way->second);
    }
  }
}

uint64_t ExprPool::count(ExprId x, uint64_t cap) {
  static constexpr size_t kMaxCountSteps = 300;
  struct Visit {
    ExprId expr;
    uint64_t total;           // of the texts so far
    size_t edge = 0;          // that is next
    uint64_t characters = 0;  // by which the edge before leads on
  };
  std::vector<Visit> open;
  size_t steps = 0;
  // The number of an expression's texts, or kLater once they are counted.
  static constexpr uint64_t kLater = UINT64_MAX;
  const auto begin = [&](ExprId expr) -> uint64_t {
    if (expr == kNothing || cap == 0 || !live(expr)) return 0;
    if (nodes_[expr].freedom > 0 || ++steps > kMaxCountSteps) return cap;
    open.push_back({.expr = expr, .total = nodes_[expr].nullable ? 1u : 0u});
    return kLater;
  };
  uint64_t result = begin(x);
  while (!open.empty()) {
    Visit& at = open.back();
    if (result != kLater) {
      // Of what the edge before leads to.
      if (result >= cap) return cap;
      at.total += at.characters * result;
    }
    const std::vector<Edge>& list = edges(at.expr);
    while (at.edge < list.size() &&
           (list[at.edge].next == kNothing || !live(list[at.edge].next))) {
      ++at.edge;
    }
    if (at.edge == list.size() || at.total >= cap) {
      result = std::min(at.total, cap);
      open.pop_back();
      continue;
    }
    const Edge& edge = list[at.edge];
    ++at.edge;
    const char32_t end =
        at.edge < list.size() ? list[at.edge].low : kMaxCodePoint + 1;
    // Every one of the characters goes on in at least one way.
    at.characters = end - edge.low;
    if (at.characters >= cap - at.total) return cap;
    result = begin(edge.next);
  }
  return result;
}

bool ExprPool::matches(ExprId x, std::string_view utf8) {
  while (!utf8.empty() && x != kNothing) {
    const Utf8Char c = decode_utf8(utf8);
    if (c.state != Utf8::kValid) return false;
    x = derive(x, c.code_point);
    utf8.remove_prefix(c.size);
  }
  return nodes_[x].nullable;
}

}  // namespace rc::text::grammar
