// Regular expressions with boolean operations, as hash-consed nodes with
// Brzozowski's derivatives (J. Brzozowski, "Derivatives of regular
// expressions", 1964; S. Owens et al., "Regular-expression derivatives
// re-examined", 2009).
//
// The alphabet is that of Unicode scalar values. Equal expressions have equal
// ids, up to the identities that the constructors apply.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/grammar/char_set.h"

namespace rc::text::grammar {

using ExprId = uint32_t;

inline constexpr uint32_t kUnbounded = UINT32_MAX;

// From `low` on, up to the next edge, an expression goes on as `next`.
struct Edge {
  char32_t low;
  ExprId next;
  bool operator==(const Edge&) const = default;
};

// Appends an edge unless it goes on like the last one.
void append_edge(std::vector<Edge>* edges, Edge edge);

// Not for several threads at a time. Throws RC_E_UNSUPPORTED when there would
// be more than `max_nodes` expressions, when what they store (children, ranges
// of sets, edges) would be more than 16 elements for each of so many, or when
// combining them would handle more than 256 for each. Memory and time are
// bounded so, whatever the expressions are. No function recurses.
class ExprPool {
 public:
  explicit ExprPool(size_t max_nodes);
  ExprPool(const ExprPool&) = delete;
  ExprPool& operator=(const ExprPool&) = delete;

  static constexpr ExprId kNothing = 0;  // no text at all
  static constexpr ExprId kEmpty = 1;    // the empty text
  static constexpr ExprId kAny = 2;      // every text

  ExprId set(const CharSet& set);
  ExprId literal(std::string_view utf8);
  // One of the texts; as a tree of their beginnings, so that the number of
  // states is that of the tree.
  ExprId one_of(std::vector<std::string> texts);
  ExprId concat(ExprId a, ExprId b);
  ExprId concat(const std::vector<ExprId>& parts);
  ExprId either(ExprId a, ExprId b);
  ExprId either(std::vector<ExprId> parts);
  ExprId both(ExprId a, ExprId b);
  ExprId both(std::vector<ExprId> parts);
  ExprId negate(ExprId x);
  ExprId repeat(ExprId x, uint32_t min, uint32_t max);
  ExprId optional(ExprId x) { return repeat(x, 0, 1); }

  // Unsigned decimal numbers "12.30" whose value is a multiple of
  // divisor * 10^-decimals; leading zeros are allowed. divisor is at most
  // kMaxDivisor, decimals at most kMaxDecimals.
  ExprId multiple(uint32_t divisor, uint32_t decimals);
  static constexpr uint32_t kMaxDivisor = 20'000;
  static constexpr uint32_t kMaxDecimals = 12;

  // Whether there are multiples among the expressions.
  bool has_multiples() const { return has_multiples_; }
  // Finds out what may match after each of some beginnings of texts, so that a
  // failure of that comes early: follows the expression breadth first, up to
  // kMaxTrial derivatives. Throws RC_E_UNSUPPORTED as live() does.
  void try_out(ExprId x);
  static constexpr size_t kMaxTrial = 100;

  bool nullable(ExprId x) const { return nodes_[x].nullable; }

  // The derivatives by every character, sorted, the first for U+0000. What
  // they say of surrogates means nothing.
  const std::vector<Edge>& edges(ExprId x);
  ExprId derive(ExprId x, char32_t c);

  // Whether any text matches. Throws RC_E_UNSUPPORTED if finding out would take
  // more than kMaxSearch derivatives; what was found so is remembered, as is
  // the failure.
  bool live(ExprId x);
  static constexpr size_t kMaxSearch = 20'000;

  // The number of texts that match, or `cap` if they are more or many steps
  // would be needed to count them.
  uint64_t count(ExprId x, uint64_t cap);

  // Returns the number of arbitrary characters that may certainly come next: at
  // least this many, UINT8_MAX for any number.
  uint8_t freedom(ExprId x) const { return nodes_[x].freedom; }

  // Whether it matches all texts whose number of characters is in a range.
  bool only_length(ExprId x) const {
    const Node& node = nodes_[x];
    return node.kind == Kind::kEmpty ||
           (node.kind == Kind::kRepeat && node.freedom > 0) ||
           (node.kind == Kind::kSet && node.freedom > 0);
  }

  // A function that is asked at every few hundred new expressions; if it
  // returns true, the call throws RC_E_CANCELLED. It must live until the next
  // call of this; nullptr: none.
  void set_should_stop(const std::function<bool()>* should_stop) {
    should_stop_ = should_stop;
  }
  // Counts a step of work.
  void step() {
    if (should_stop_ != nullptr && ++steps_ % kStepsBetween == 0) ask();
  }

  bool matches(ExprId x, std::string_view utf8);
  size_t size() const { return nodes_.size(); }

 private:
  enum class Kind : uint8_t {
    kNothing,
    kEmpty,
    kSet,
    kConcat,    // children: 2
    kEither,    // children: at least 2, sorted
    kBoth,      // children: at least 2, sorted
    kNegate,    // children: 1
    kRepeat,    // children: 1
    kMultiple,  // see Multiple
  };
  enum class Life : uint8_t { kUnknown, kLive, kDead, kNotFound };
  struct Node {
    Kind kind;
    bool nullable = false;
    Life life = Life::kUnknown;
    uint8_t freedom = 0;
    uint16_t depth = 0;  // of the recursion when it is derived
    uint32_t min = 0;    // of kRepeat; of kMultiple the divisor
    uint32_t max = 0;    // of kRepeat; of kMultiple the decimals
    // Of kMultiple: the digits after the point so far plus one, or 0.
    uint32_t phase = 0;
    uint32_t rest = 0;  // of kMultiple: the value so far modulo the divisor
    CharSet set{};
    std::vector<ExprId> children{};
    bool same(const Node& other) const;
    size_t hash() const;
  };
  ExprId add(Node node);
  ExprId append(ExprId a, ExprId b);
  // Count against the limits.
  void store(size_t elements);
  void work(size_t elements);
  ExprId multiple_at(uint32_t divisor, uint32_t decimals, uint32_t phase,
                     uint32_t rest);
  // The parts whose edges those of the expression are made of.
  void append_needed(ExprId x, std::vector<ExprId>* parts) const;
  // One multiple for two, where their values so far go together; kNothing if
  // that would be above kMaxDivisor.
  ExprId common_multiple(ExprId a, ExprId b);
  // Finds out at once whether it is live, as expressions within it are, or as
  // digits lead to a multiple; or that no digits do. Most stay unknown.
  void judge(ExprId x);
  Life judge_both(const std::vector<ExprId>& parts);
  Life follow_digits(std::vector<ExprId> parts);
  std::vector<Edge> derivatives(ExprId x);
  void find_life(ExprId x);
  void spread_life(const std::vector<ExprId>& queue,
                   std::vector<std::pair<size_t, size_t>> ways);
  std::vector<Edge> set_edges(const CharSet& set) const;
  std::vector<Edge> multiple_edges(const Node& node);
  // Combines the derivatives of several expressions by `combine`.
  template <class Combine>
  std::vector<Edge> zip(const std::vector<ExprId>& parts, Combine combine);
  std::vector<Edge> either_edges(const std::vector<ExprId>& parts);
  void describe(Node* node) const;

  void ask() const;

  static constexpr size_t kStepsBetween = 256;
  const std::function<bool()>* should_stop_ = nullptr;
  size_t steps_ = 0;
  size_t max_nodes_;
  size_t stored_ = 0;
  uint64_t work_ = 0;
  bool has_multiples_ = false;
  std::deque<Node> nodes_;
  std::unordered_multimap<size_t, ExprId> by_hash_;
  std::unordered_map<ExprId, std::vector<Edge>> edges_;
  // Of two expressions, the first a long concatenation.
  std::unordered_map<uint64_t, ExprId> joined_;
};

}  // namespace rc::text::grammar
