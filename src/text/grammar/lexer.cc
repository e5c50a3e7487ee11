#include "text/grammar/lexer.h"

#include <algorithm>

#include "base/error.h"
#include "text/grammar/work.h"

namespace rc::text::grammar {

namespace {

constexpr size_t kMaxLexStored = 64;  // parts and moves for each state
constexpr size_t kFewLexParts = 16;

template <class Move>
void append_move(char32_t low, LexState next, std::vector<Move>* moves) {
  if (moves->empty() || moves->back().next != next) {
    moves->push_back({low, next});
  }
}

}  // namespace

Lexer::Lexer(ExprPool* pool, std::recursive_mutex* mutex, size_t max_states,
             Follow follow)
    : pool_(*pool),
      mutex_(*mutex),
      max_states_(max_states),
      follow_(std::move(follow)),
      chunks_(max_states / kChunk + 1) {
  intern({});
}

Lexer::~Lexer() = default;

void Lexer::tidy(std::vector<TaggedExpr>* parts) {
  std::sort(parts->begin(), parts->end());
  parts->erase(std::unique(parts->begin(), parts->end()), parts->end());
  std::erase_if(*parts, [&](const TaggedExpr& part) {
    return part.first == ExprPool::kNothing || !pool_.live(part.first);
  });
}

void Lexer::store(size_t elements) {
  stored_ += elements;
  if (stored_ / kMaxLexStored > max_states_) {
    fail(RC_E_UNSUPPORTED, "the states of the grammar take more than ",
         kMaxLexStored * max_states_,
         " alternatives and moves; simplify its rules or raise the limit");
  }
}

LexState Lexer::start(std::vector<TaggedExpr> parts) {
  const Work::Lock lock(mutex_);
  tidy(&parts);
  if (follow_ != nullptr) {
    std::vector<TaggedExpr> next;
    size_t most = 1024;
    for (const auto& [expr, tag] : parts) {
      if (!pool_.nullable(expr)) continue;
      follow_(tag, &next);
      // Many ways to go on may be the same.
      if (next.size() <= most) continue;
      tidy(&next);
      most = std::max(most, 2 * next.size());
    }
    if (!next.empty()) {
      // Parts that ended and were followed are of no further use: states
      // without them are fewer.
      std::erase_if(parts, [](const TaggedExpr& part) {
        return part.first == ExprPool::kEmpty && part.second != kEndTag;
      });
      parts.insert(parts.end(), next.begin(), next.end());
      tidy(&parts);
    }
  }
  return intern(std::move(parts));
}

LexState Lexer::intern(std::vector<TaggedExpr> parts) {
  const auto known = by_parts_.find(parts);
  if (known != by_parts_.end()) return known->second;
  const size_t id = size();
  if (id >= max_states_) {
    fail(RC_E_UNSUPPORTED, "the grammar takes more than ", max_states_,
         " states; simplify its regular expressions or raise the limit");
  }
  store(parts.size());
  if (id % kChunk == 0) {
    owned_.push_back(std::make_unique<State[]>(kChunk));
    chunks_[id / kChunk].store(owned_.back().get(), std::memory_order_release);
  }
  State& state = owned_.back()[id % kChunk];
  for (const auto& [expr, tag] : parts) {
    if (pool_.nullable(expr)) state.accepted.push_back(tag);
    state.freedom = std::max(state.freedom, pool_.freedom(expr));
  }
  state.only_length = parts.size() == 1 && pool_.only_length(parts[0].first);
  std::sort(state.accepted.begin(), state.accepted.end());
  state.accepted.erase(
      std::unique(state.accepted.begin(), state.accepted.end()),
      state.accepted.end());
  state.parts = parts;
  const auto result = static_cast<LexState>(id);
  by_parts_.emplace(std::move(parts), result);
  size_.store(id + 1, std::memory_order_relaxed);
  return result;
}

std::vector<Lexer::Move> Lexer::moves_of_few(
    const std::vector<TaggedExpr>& parts) {
  std::vector<const std::vector<Edge>*> lists;
  std::vector<char32_t> lows = {0};
  for (const auto& [expr, tag] : parts) {
    lists.push_back(&pool_.edges(expr));
    for (const Edge& edge : *lists.back()) lows.push_back(edge.low);
  }
  std::sort(lows.begin(), lows.end());
  lows.erase(std::unique(lows.begin(), lows.end()), lows.end());
  Work::walk(1 + lows.size() * parts.size() / 8);
  std::vector<Move> moves;
  std::vector<size_t> at(parts.size(), 0);
  for (const char32_t low : lows) {
    std::vector<TaggedExpr> next;
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::vector<Edge>& list = *lists[i];
      while (at[i] + 1 < list.size() && list[at[i] + 1].low <= low) ++at[i];
      next.emplace_back(list[at[i]].next, parts[i].second);
    }
    append_move(low, start(std::move(next)), &moves);
  }
  return moves;
}

// Few of many parts go on by any one character: each is handled where it
// changes.
std::vector<Lexer::Move> Lexer::moves_of_many(
    const std::vector<TaggedExpr>& parts) {
  struct Change {
    char32_t low;
    uint32_t tag;
    ExprId before;
    ExprId after;
  };
  std::vector<Change> changes;
  for (const auto& [expr, tag] : parts) {
    ExprId before = ExprPool::kNothing;
    for (const Edge& edge : pool_.edges(expr)) {
      changes.push_back({edge.low, tag, before, edge.next});
      before = edge.next;
    }
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.low < b.low; });
  std::map<TaggedExpr, size_t> present;  // and how many parts go on so
  std::vector<Move> moves;
  for (size_t i = 0; i < changes.size();) {
    const char32_t low = changes[i].low;
    for (; i < changes.size() && changes[i].low == low; ++i) {
      const Change& change = changes[i];
      if (change.after != ExprPool::kNothing) {
        ++present[{change.after, change.tag}];
      }
      if (change.before == ExprPool::kNothing) continue;
      const auto gone = present.find({change.before, change.tag});
      if (--gone->second == 0) present.erase(gone);
    }
    Work::walk(1 + present.size() / 8);
    std::vector<TaggedExpr> next;
    for (const auto& [part, count] : present) next.push_back(part);
    append_move(low, start(std::move(next)), &moves);
  }
  return moves;
}

const Lexer::Moves& Lexer::build_moves(LexState state) {
  const Work::Lock lock(mutex_);
  State& built = owned_[state / kChunk][state % kChunk];
  if (const Moves* moves = built.moves.load(std::memory_order_acquire)) {
    return *moves;
  }
  const uint64_t mark = Work::walked();
  auto moves = std::make_unique<Moves>();
  moves->all = built.parts.size() <= kFewLexParts ? moves_of_few(built.parts)
                                                  : moves_of_many(built.parts);
  store(moves->all.size());
  for (char32_t c = 0; c < kAscii; ++c) moves->ascii[c] = wide_step(*moves, c);
  for (size_t i = 0; i < moves->all.size(); ++i) {
    const bool beyond =
        i + 1 == moves->all.size() || moves->all[i + 1].low > kAscii;
    if (beyond && moves->all[i].next != kDeadLex) moves->wide = true;
  }
  Work::build(moves->all.size());
  Work::keep(mark);
  owned_moves_.push_back(std::move(moves));
  built.moves.store(owned_moves_.back().get(), std::memory_order_release);
  return *owned_moves_.back();
}

LexState Lexer::wide_step(const Moves& moves, char32_t c) {
  const auto after = std::upper_bound(
      moves.all.begin(), moves.all.end(), c,
      [](char32_t value, const Move& move) { return value < move.low; });
  return std::prev(after)->next;
}

bool Lexer::can_step(LexState state, char32_t low, char32_t high) {
  if (low < kSurrogates && high >= kAfterSurrogates) {
    return can_step(state, low, kSurrogates - 1) ||
           can_step(state, kAfterSurrogates, high);
  }
  if (low >= kSurrogates) low = std::max(low, kAfterSurrogates);
  if (high < kAfterSurrogates) high = std::min<char32_t>(high, kSurrogates - 1);
  if (low > high) return false;
  const Moves& moves = moves_of(state);
  auto at = std::upper_bound(
      moves.all.begin(), moves.all.end(), low,
      [](char32_t value, const Move& move) { return value < move.low; });
  for (--at; at != moves.all.end() && at->low <= high; ++at) {
    if (at->next != kDeadLex) return true;
  }
  return false;
}

}  // namespace rc::text::grammar
