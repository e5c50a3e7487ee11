#include "text/grammar/expr.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"

namespace rc::text::grammar {
namespace {

// Bounds the work of one derivative.
constexpr uint16_t kMaxExprDepth = 400;

// Per expression that a pool may have. Most have two children and four edges.
constexpr size_t kMaxExprStored = 16;
constexpr size_t kMaxExprWork = 256;

uint8_t add_freedom(uint32_t a, uint32_t b) {
  return static_cast<uint8_t>(std::min<uint64_t>(uint64_t{a} + b, UINT8_MAX));
}

size_t mix(size_t hash, size_t value) {
  return (hash ^ value) * 0x9E3779B97F4A7C15u + (hash >> 29);
}

}  // namespace

bool ExprPool::Node::same(const Node& other) const {
  return kind == other.kind && min == other.min && max == other.max &&
         phase == other.phase && rest == other.rest &&
         children == other.children && set == other.set;
}

size_t ExprPool::Node::hash() const {
  size_t hash = static_cast<size_t>(kind);
  for (const size_t value : {min, max, phase, rest}) hash = mix(hash, value);
  for (const ExprId child : children) hash = mix(hash, child);
  for (const CharSet::Range& range : set.ranges()) {
    hash = mix(hash, range.low * size_t{0x200000} + range.high);
  }
  return hash;
}

ExprPool::ExprPool(size_t max_nodes) : max_nodes_(max_nodes) {
  add({.kind = Kind::kNothing});
  add({.kind = Kind::kEmpty});
  const ExprId all = 3;
  add({.kind = Kind::kRepeat, .max = kUnbounded, .children = {all}});
  add({.kind = Kind::kSet, .set = CharSet::all()});
  // The node above was described before its child was there.
  describe(&nodes_[kAny]);
}

void ExprPool::ask() const {
  if (*should_stop_ && (*should_stop_)()) {
    fail(RC_E_CANCELLED, "compiling the grammar was cancelled");
  }
}

ExprId ExprPool::add(Node node) {
  step();
  const size_t hash = node.hash();
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto at = first; at != last; ++at) {
    if (nodes_[at->second].same(node)) return at->second;
  }
  if (nodes_.size() >= max_nodes_) {
    fail(RC_E_UNSUPPORTED, "regular expressions take more than ", max_nodes_,
         " states; simplify them or raise the limit");
  }
  store(node.children.size() + node.set.ranges().size());
  const auto id = static_cast<ExprId>(nodes_.size());
  if (id > kAny) describe(&node);
  nodes_.push_back(std::move(node));
  if (id < kAny) describe(&nodes_.back());
  by_hash_.emplace(hash, id);
  return id;
}

void ExprPool::store(size_t elements) {
  stored_ += elements;
  if (stored_ / kMaxExprStored > max_nodes_) {
    fail(RC_E_UNSUPPORTED, "the states of regular expressions take more than ",
         kMaxExprStored * max_nodes_,
         " alternatives, ranges and transitions; simplify them or raise the "
         "limit");
  }
}

void ExprPool::work(size_t elements) {
  work_ += elements;
  if (work_ / kMaxExprWork > max_nodes_) {
    fail(RC_E_UNSUPPORTED, "combining regular expressions takes more than ",
         uint64_t{kMaxExprWork} * max_nodes_, " steps; simplify them");
  }
}

// Fills in what follows from the children.
void ExprPool::describe(Node* node) const {
  const auto child = [&](size_t i) -> const Node& {
    return nodes_[node->children[i]];
  };
  const auto alive = [](const Node& n) { return n.life == Life::kLive; };
  const auto can_be_empty = [](const Node& n) { return n.nullable; };
  const auto all_of = [&](auto holds) {
    return std::all_of(node->children.begin(), node->children.end(),
                       [&](ExprId x) { return holds(nodes_[x]); });
  };
  const auto any_of = [&](auto holds) {
    return std::any_of(node->children.begin(), node->children.end(),
                       [&](ExprId x) { return holds(nodes_[x]); });
  };
  uint16_t depth = 0;
  for (const ExprId x : node->children) {
    depth = std::max(depth, nodes_[x].depth);
  }
  bool live = false;
  switch (node->kind) {
    case Kind::kNothing:
      node->life = Life::kDead;
      return;
    case Kind::kEmpty:
      node->nullable = live = true;
      break;
    case Kind::kSet:
      live = true;
      node->freedom = node->set == CharSet::all() ? 1 : 0;
      break;
    case Kind::kConcat: {
      const Node& left = child(0);
      const Node& right = child(1);
      // The right side is derived only if the left may be empty.
      depth = left.nullable ? std::max(left.depth, right.depth) : left.depth;
      node->nullable = left.nullable && right.nullable;
      live = alive(left) && alive(right);
      if (!live) break;
      const bool counted = left.kind == Kind::kSet ||
                           (left.kind == Kind::kRepeat &&
                            nodes_[left.children[0]].kind == Kind::kSet);
      node->freedom = counted && left.freedom > 0
                          ? add_freedom(left.freedom, right.freedom)
                          : left.freedom;
      if (left.nullable) node->freedom = std::max(node->freedom, right.freedom);
      break;
    }
    case Kind::kEither:
      node->nullable = any_of(can_be_empty);
      live = any_of(alive);
      for (const ExprId x : node->children) {
        if (alive(nodes_[x])) {
          node->freedom = std::max(node->freedom, nodes_[x].freedom);
        }
      }
      break;
    case Kind::kBoth:
      node->nullable = all_of(can_be_empty);
      live = node->nullable;
      break;
    case Kind::kNegate:
      node->nullable = !child(0).nullable;
      live = node->nullable;
      break;
    case Kind::kRepeat:
      node->nullable = node->min == 0 || child(0).nullable;
      live = node->min == 0 || alive(child(0));
      if (child(0).kind == Kind::kSet && child(0).freedom > 0) {
        node->freedom = add_freedom(node->max, 0);
      }
      break;
    case Kind::kMultiple:
      break;  // see multiple_at
  }
  if (live) node->life = Life::kLive;
  node->depth = static_cast<uint16_t>(depth + 1);
  if (node->depth > kMaxExprDepth) {
    fail(RC_E_UNSUPPORTED, "a regular expression nests deeper than ",
         kMaxExprDepth, " levels; simplify it");
  }
}

ExprId ExprPool::set(const CharSet& set) {
  if (set.empty()) return kNothing;
  return add({.kind = Kind::kSet, .set = set});
}

ExprId ExprPool::literal(std::string_view utf8) {
  std::vector<ExprId> parts;
  while (!utf8.empty()) {
    const Utf8Char c = decode_utf8(utf8);
    parts.push_back(set(CharSet::of(c.code_point, c.code_point)));
    utf8.remove_prefix(c.size);
  }
  return concat(parts);
}

ExprId ExprPool::one_of(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  // The tree of beginnings, from the last text back: what follows each of the
  // characters of the present text.
  struct Level {
    std::string_view rest;         // of the text from here on
    std::vector<ExprId> branches;  // of what was closed from here on
  };
  std::vector<Level> levels = {{std::string_view(), {}}};
  const auto close = [&](size_t depth) {
    while (levels.size() > depth) {
      const ExprId inside = either(std::move(levels.back().branches));
      const std::string_view text = levels[levels.size() - 2].rest;
      const Utf8Char c = decode_utf8(text);
      levels.pop_back();
      levels.back().branches.push_back(
          concat(set(CharSet::of(c.code_point, c.code_point)), inside));
    }
  };
  for (const std::string& text : texts) {
    std::string_view rest = text;
    size_t depth = 0;
    // As far as the previous text began alike.
    while (depth + 1 < levels.size() && !rest.empty()) {
      const Utf8Char c = decode_utf8(rest);
      if (decode_utf8(levels[depth].rest).code_point != c.code_point) break;
      levels[depth].rest = rest;
      rest.remove_prefix(c.size);
      ++depth;
    }
    close(depth + 1);
    levels.back().rest = rest;
    while (!rest.empty()) {
      levels.back().rest = rest;
      rest.remove_prefix(decode_utf8(rest).size);
      levels.push_back({rest, {}});
    }
    levels.back().branches.push_back(kEmpty);
  }
  close(1);
  return either(std::move(levels[0].branches));
}

ExprId ExprPool::concat(ExprId a, ExprId b) {
  if (nodes_[a].kind != Kind::kConcat) return append(a, b);
  if (b == kNothing) return kNothing;
  if (b == kEmpty) return a;
  // To the right, so that deriving goes no deeper than it must. Rules and
  // repetitions ask again for all but the first of long ones.
  constexpr size_t kFew = 8;
  std::vector<ExprId> lefts;
  const auto key = [b](ExprId left) { return uint64_t{left} << 32 | b; };
  ExprId result = kNothing;
  for (ExprId at = a;; at = nodes_[at].children[1]) {
    if (nodes_[at].kind != Kind::kConcat) {
      result = append(at, b);
      break;
    }
    const auto known =
        lefts.size() < kFew ? joined_.end() : joined_.find(key(at));
    if (known != joined_.end()) {
      result = known->second;
      break;
    }
    lefts.push_back(at);
  }
  work(kFew * lefts.size());
  for (size_t i = lefts.size(); i-- > 0;) {
    result = append(nodes_[lefts[i]].children[0], result);
    if (i >= kFew) joined_.emplace(key(lefts[i]), result);
  }
  return result;
}

// The same where `a` is no concatenation.
ExprId ExprPool::append(ExprId a, ExprId b) {
  if (a == kNothing || b == kNothing) return kNothing;
  if (a == kEmpty) return b;
  if (b == kEmpty) return a;
  if (a == kAny && b == kAny) return kAny;
  if (a == kAny && nodes_[b].kind == Kind::kConcat &&
      nodes_[b].children[0] == kAny) {
    return b;
  }
  return add({.kind = Kind::kConcat, .children = {a, b}});
}

ExprId ExprPool::concat(const std::vector<ExprId>& parts) {
  ExprId result = kEmpty;
  for (size_t i = parts.size(); i-- > 0;) result = concat(parts[i], result);
  return result;
}

ExprId ExprPool::either(ExprId a, ExprId b) {
  return either(std::vector<ExprId>{a, b});
}

ExprId ExprPool::either(std::vector<ExprId> parts) {
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  if (parts.size() == 1) return parts[0];
  std::vector<ExprId> flat;
  std::vector<CharSet::Range> ranges;
  const auto take = [&](ExprId x) {
    const Node& node = nodes_[x];
    if (node.kind == Kind::kSet) {
      const auto& more = node.set.ranges();
      ranges.insert(ranges.end(), more.begin(), more.end());
    } else {
      flat.push_back(x);
    }
  };
  for (const ExprId x : parts) {
    if (x == kAny) return kAny;
    if (x == kNothing) continue;
    if (nodes_[x].kind == Kind::kEither) {
      for (const ExprId inner : nodes_[x].children) take(inner);
    } else {
      take(x);
    }
  }
  work(flat.size() + ranges.size());
  if (!ranges.empty()) flat.push_back(set(CharSet::of(std::move(ranges))));
  std::sort(flat.begin(), flat.end());
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  if (flat.size() > 1 && flat[0] == kEmpty &&
      std::any_of(flat.begin() + 1, flat.end(),
                  [&](ExprId x) { return nodes_[x].nullable; })) {
    flat.erase(flat.begin());
  }
  if (flat.empty()) return kNothing;
  if (flat.size() == 1) return flat[0];
  return add({.kind = Kind::kEither, .children = std::move(flat)});
}

ExprId ExprPool::both(ExprId a, ExprId b) {
  return both(std::vector<ExprId>{a, b});
}

ExprId ExprPool::both(std::vector<ExprId> parts) {
  std::vector<ExprId> flat;
  CharSet set = CharSet::all();
  bool has_set = false;
  // Bounds of length, which are many.
  const ExprId all = this->set(CharSet::all());
  uint32_t min = 0;
  uint32_t max = kUnbounded;
  std::vector<ExprId> multiples;
  const auto take_multiple = [&](ExprId x) {
    for (ExprId& other : multiples) {
      const ExprId common = common_multiple(x, other);
      if (common == kNothing) continue;
      other = common;
      return;
    }
    multiples.push_back(x);
  };
  const auto take = [&](ExprId x) {
    const Node& node = nodes_[x];
    if (node.kind == Kind::kSet) {
      set = set & node.set;
      has_set = true;
    } else if (node.kind == Kind::kRepeat && node.children[0] == all) {
      min = std::max(min, node.min);
      max = std::min(max, node.max);
    } else if (node.kind == Kind::kMultiple) {
      take_multiple(x);
    } else {
      flat.push_back(x);
    }
  };
  for (const ExprId x : parts) {
    if (x == kNothing) return kNothing;
    if (nodes_[x].kind == Kind::kBoth) {
      for (const ExprId inner : std::vector<ExprId>(nodes_[x].children)) {
        take(inner);
      }
    } else {
      take(x);
    }
  }
  work(flat.size());
  if (min > max) return kNothing;
  flat.insert(flat.end(), multiples.begin(), multiples.end());
  if (has_set) flat.push_back(this->set(set));
  if (min > 0 || max != kUnbounded) flat.push_back(repeat(all, min, max));
  std::sort(flat.begin(), flat.end());
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  if (flat.empty()) return kAny;
  if (flat[0] == kNothing) return kNothing;
  if (flat.size() == 1) return flat[0];
  if (std::binary_search(flat.begin(), flat.end(), kEmpty)) {
    return std::all_of(flat.begin(), flat.end(),
                       [&](ExprId x) { return nodes_[x].nullable; })
               ? kEmpty
               : kNothing;
  }
  for (const ExprId x : flat) {
    if (nodes_[x].kind == Kind::kNegate &&
        std::binary_search(flat.begin(), flat.end(), nodes_[x].children[0])) {
      return kNothing;
    }
  }
  return add({.kind = Kind::kBoth, .children = std::move(flat)});
}

ExprId ExprPool::negate(ExprId x) {
  if (x == kNothing) return kAny;
  if (x == kAny) return kNothing;
  if (nodes_[x].kind == Kind::kNegate) return nodes_[x].children[0];
  return add({.kind = Kind::kNegate, .children = {x}});
}

ExprId ExprPool::repeat(ExprId x, uint32_t min, uint32_t max) {
  if (max == 0 || x == kEmpty) return kEmpty;
  if (x == kNothing) return min == 0 ? kEmpty : kNothing;
  if (min == 1 && max == 1) return x;
  const Node& node = nodes_[x];
  if (node.nullable) min = 0;
  if (node.kind == Kind::kRepeat && node.min == 0 && node.max == kUnbounded) {
    return x;
  }
  return add({.kind = Kind::kRepeat, .min = min, .max = max, .children = {x}});
}

}  // namespace rc::text::grammar
