// Multiples of a number, as expressions: the state is the value of the digits
// so far modulo the divisor.
#include <algorithm>
#include <numeric>
#include <utility>

#include "text/grammar/expr.h"
#include "text/grammar/work.h"

namespace rc::text::grammar {

ExprId ExprPool::multiple(uint32_t divisor, uint32_t decimals) {
  return multiple_at(divisor, decimals, 0, 0);
}

ExprId ExprPool::multiple_at(uint32_t divisor, uint32_t decimals,
                             uint32_t phase, uint32_t rest) {
  const uint32_t left = decimals - (phase == 0 ? 0 : phase - 1);
  uint64_t power = 1;
  for (uint32_t i = 0; i < left; ++i) power *= 10;
  const uint64_t shifted = rest * (power % divisor) % divisor;
  // The sum that the following digits have to have.
  const uint64_t needed = (divisor - shifted) % divisor;
  Node node = {.kind = Kind::kMultiple,
               .nullable = needed == 0,
               .min = divisor,
               .max = decimals,
               .phase = phase,
               .rest = rest};
  if (phase != 0 && needed >= power) return kNothing;
  node.life = Life::kLive;
  has_multiples_ = true;
  return add(std::move(node));
}

std::vector<Edge> ExprPool::multiple_edges(const Node& node) {
  const uint32_t divisor = node.min;
  const uint32_t decimals = node.max;
  const uint32_t phase = node.phase;
  const uint64_t rest = node.rest;
  std::vector<Edge> result = {{0, kNothing}};
  if (phase == 0) {
    append_edge(&result, {'.', multiple_at(divisor, decimals, 1, node.rest)});
    append_edge(&result, {'.' + 1, kNothing});
  }
  const bool only_zeros = phase == decimals + 1;
  for (uint32_t digit = 0; digit < 10; ++digit) {
    ExprId next = kNothing;
    if (!only_zeros) {
      next = multiple_at(divisor, decimals, phase == 0 ? 0 : phase + 1,
                         static_cast<uint32_t>((rest * 10 + digit) % divisor));
    } else if (digit == 0) {
      next = multiple_at(divisor, decimals, phase, node.rest);
    }
    append_edge(&result, {'0' + digit, next});
  }
  append_edge(&result, {'9' + 1, kNothing});
  return result;
}

// By the Chinese remainder theorem.
ExprId ExprPool::common_multiple(ExprId a, ExprId b) {
  const bool swapped = nodes_[a].min < nodes_[b].min;
  const Node& x = nodes_[swapped ? b : a];
  const Node& y = nodes_[swapped ? a : b];
  // Values of other decimals, or digits, are not of the same unit.
  if (x.max != y.max || x.phase != y.phase) return kNothing;
  const uint64_t common = std::gcd(x.min, y.min);
  const uint64_t divisor = x.min / common * uint64_t{y.min};
  if (divisor > kMaxDivisor || x.rest % common != y.rest % common) {
    return kNothing;
  }
  // At most as many steps as the lesser divisor.
  uint64_t rest = x.rest;
  while (rest % y.min != y.rest) rest += x.min;
  return multiple_at(static_cast<uint32_t>(divisor), x.max, x.phase,
                     static_cast<uint32_t>(rest));
}

void ExprPool::judge(ExprId x) {
  if (nodes_[x].life != Life::kUnknown || !has_multiples_) return;
  // A copy: deriving adds nodes.
  const std::vector<ExprId> parts = nodes_[x].children;
  const auto live = [&](ExprId part) {
    judge(part);
    return nodes_[part].life == Life::kLive;
  };
  bool found = false;
  switch (nodes_[x].kind) {
    case Kind::kConcat:
      found = std::all_of(parts.begin(), parts.end(), live);
      break;
    case Kind::kEither:
      found = std::any_of(parts.begin(), parts.end(), live);
      break;
    case Kind::kBoth:
      nodes_[x].life = judge_both(parts);
      return;
    default:
      break;
  }
  if (found) nodes_[x].life = Life::kLive;
}

// One alternative of a part is enough.
ExprPool::Life ExprPool::judge_both(const std::vector<ExprId>& parts) {
  constexpr size_t kMostAlternatives = 16;
  const Life life = follow_digits(parts);
  if (life != Life::kUnknown) return life;
  const auto choice =
      std::find_if(parts.begin(), parts.end(), [&](ExprId part) {
        return nodes_[part].kind == Kind::kEither &&
               nodes_[part].children.size() <= kMostAlternatives;
      });
  if (choice == parts.end()) return Life::kUnknown;
  const std::vector<ExprId> alternatives = nodes_[*choice].children;
  for (const ExprId alternative : alternatives) {
    std::vector<ExprId> chosen = parts;
    chosen.erase(chosen.begin() + (choice - parts.begin()));
    if (nodes_[alternative].kind == Kind::kBoth) {
      const std::vector<ExprId>& inner = nodes_[alternative].children;
      chosen.insert(chosen.end(), inner.begin(), inner.end());
    } else {
      chosen.push_back(alternative);
    }
    if (follow_digits(std::move(chosen)) == Life::kLive) return Life::kLive;
  }
  return Life::kUnknown;
}

// Looks for a number n for which the other parts allow any n digits, and some n
// digits lead to what the multiples ask for. Where there are no more digits
// and none did, none does: what comes after a point is zeros.
ExprPool::Life ExprPool::follow_digits(std::vector<ExprId> parts) {
  constexpr size_t kMostDigits = 18;
  uint64_t divisor = 1;
  uint64_t rest = 0;
  uint64_t decimals = 0;
  std::vector<uint64_t> excluded;  // divisors of which it must be no multiple
  bool possible = true;
  std::erase_if(parts, [&](ExprId part) {
    const bool negated = nodes_[part].kind == Kind::kNegate;
    const Node& node = nodes_[negated ? nodes_[part].children[0] : part];
    if (node.kind != Kind::kMultiple) return false;
    // More than one, or within a fraction: no quick answer.
    possible = possible && node.phase == 0 && (negated || divisor == 1);
    decimals += node.max;
    if (negated) {
      excluded.push_back(node.min);
    } else {
      divisor = node.min;
      rest = node.rest;
    }
    return true;
  });
  if (!possible || (divisor == 1 && excluded.empty()) ||
      (decimals != 0 && !excluded.empty())) {
    return Life::kUnknown;
  }
  // Those that are excluded take at most half of many multiples, and one each.
  double share = 0;
  for (const uint64_t other : excluded) {
    share += static_cast<double>(std::gcd(divisor, other)) /
             static_cast<double>(other);
  }
  if (share > 0.5) return Life::kUnknown;
  bool ever = decimals != 0 || !excluded.empty();
  uint64_t numbers = 1;  // of n digits
  for (size_t digits = 0; digits <= kMostDigits; ++digits) {
    const bool found = excluded.empty()
                           ? (divisor - rest) % divisor < numbers
                           : numbers / divisor > 2 * excluded.size();
    ever = ever || found;
    if (found && std::all_of(parts.begin(), parts.end(), [&](ExprId part) {
          return nodes_[part].nullable;
        })) {
      return Life::kLive;
    }
    Work::walk(parts.size());
    for (ExprId& part : parts) {
      const ExprId next = derive(part, '0');
      for (char32_t digit = '1'; digit <= '9'; ++digit) {
        if (derive(part, digit) != next) return Life::kUnknown;
      }
      if (next == kNothing) return ever ? Life::kUnknown : Life::kDead;
      part = next;
    }
    numbers *= 10;
    rest = rest * 10 % divisor;
  }
  return Life::kUnknown;
}

void ExprPool::try_out(ExprId x) {
  std::vector<ExprId> queue = {x};
  std::unordered_map<ExprId, bool> seen = {{x, true}};
  for (size_t at = 0; at < queue.size() && at < kMaxTrial; ++at) {
    const std::vector<Edge> list = edges(queue[at]);
    for (const Edge& edge : list) {
      if (edge.next == kNothing || !live(edge.next)) continue;
      if (seen.emplace(edge.next, true).second) queue.push_back(edge.next);
    }
  }
}

}  // namespace rc::text::grammar
