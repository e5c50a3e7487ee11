#include "engine/items.h"

#include <algorithm>
#include <utility>

#include "base/mix.h"

namespace rc::engine {
namespace {

// The runs of which any position is within [begin, end).
std::span<const EmbeddingRun> runs_within(std::span<const EmbeddingRun> runs,
                                          int64_t begin, int64_t end) {
  const auto first = std::partition_point(
      runs.begin(), runs.end(),
      [&](const EmbeddingRun& run) { return run.end() <= begin; });
  const auto last = std::partition_point(
      first, runs.end(),
      [&](const EmbeddingRun& run) { return run.begin < end; });
  return {first, last};
}

// Finds the runs of a span at rising places.
class RunCursor {
 public:
  explicit RunCursor(const ItemSpan& span) : span_(span) {}
  // The run with the row at a place of the span, which has one.
  const EmbeddingRun& run(int64_t place) {
    while (span_.runs[next_].end() <= span_.begin + place) ++next_;
    return span_.runs[next_];
  }
  int64_t number(int64_t place) {
    return run(place).number(span_.begin + place);
  }

 private:
  const ItemSpan& span_;
  size_t next_ = 0;
};

// The first place at which the spans, of tokens that are equal, have different
// rows; the size of both if there is none.
int64_t first_different_row(const ItemSpan& a, const ItemSpan& b) {
  RunCursor rows_a(a);
  RunCursor rows_b(b);
  for (int64_t i = 0; i < a.size(); ++i) {
    if (a.tokens[static_cast<size_t>(i)] != kNoToken) continue;
    const EmbeddingRows& of_a = *rows_a.run(i).rows;
    const EmbeddingRows& of_b = *rows_b.run(i).rows;
    const int64_t in_a = rows_a.number(i);
    const int64_t in_b = rows_b.number(i);
    if (&of_a == &of_b && in_a == in_b) continue;
    if (of_a.hash(in_a) != of_b.hash(in_b) ||
        !std::ranges::equal(of_a.row(in_a), of_b.row(in_b))) {
      return i;
    }
  }
  return a.size();
}

}  // namespace

uint64_t ItemSpan::hash(uint64_t hash) const {
  RunCursor rows(*this);
  for (int64_t i = 0; i < size(); ++i) {
    const TokenId token = tokens[static_cast<size_t>(i)];
    hash = mix(hash, static_cast<uint32_t>(token));
    if (token == kNoToken) {
      hash = mix(hash, rows.run(i).rows->hash(rows.number(i)));
    }
  }
  return hash;
}

bool operator==(const ItemSpan& a, const ItemSpan& b) {
  return std::ranges::equal(a.tokens, b.tokens) &&
         first_different_row(a, b) == a.size();
}

Items::Items(const ItemSpan& span)
    : tokens_(span.tokens.begin(), span.tokens.end()) {
  for (const EmbeddingRun& run :
       runs_within(span.runs, span.begin, span.begin + span.size())) {
    const int64_t begin = std::max(run.begin, span.begin);
    const int64_t end = std::min(run.end(), span.begin + span.size());
    runs_.push_back(
        {run.rows, run.number(begin), begin - span.begin, end - begin});
  }
}

ItemSpan Items::subspan(int64_t begin, int64_t count) const {
  return {
      tokens().subspan(static_cast<size_t>(begin), static_cast<size_t>(count)),
      runs_within(runs_, begin, begin + count), begin};
}

void Items::append(std::span<const TokenId> tokens) {
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
}

void Items::append(std::shared_ptr<const EmbeddingRows> rows) {
  const int64_t count = rows->count();
  if (count == 0) return;
  const int64_t begin = size();
  runs_.reserve(runs_.size() + 1);
  tokens_.resize(tokens_.size() + static_cast<size_t>(count), kNoToken);
  put(begin, count, std::move(rows), 0);
}

void Items::put(int64_t begin, int64_t count,
                std::shared_ptr<const EmbeddingRows> rows, int64_t first) {
  runs_.push_back({std::move(rows), first, begin, count});
}

void Items::truncate(int64_t size) noexcept {
  if (size < this->size()) tokens_.resize(static_cast<size_t>(size));
  while (!runs_.empty() && runs_.back().begin >= size) runs_.pop_back();
  if (!runs_.empty()) {
    runs_.back().count =
        std::min(runs_.back().count, size - runs_.back().begin);
  }
}

void Items::erase(int64_t begin, int64_t count) {
  Items rest(subspan(begin + count, size() - begin - count));
  runs_.reserve(runs_.size() + rest.runs_.size());
  truncate(begin);
  // There is room for what was there before.
  tokens_.insert(tokens_.end(), rest.tokens_.begin(), rest.tokens_.end());
  for (EmbeddingRun& run : rest.runs_) {
    run.begin += begin;
    runs_.push_back(std::move(run));
  }
}

int64_t common_items(const Items& a, const Items& b) {
  const auto ours = a.tokens();
  const auto theirs = b.tokens();
  const auto differ =
      std::mismatch(ours.begin(), ours.end(), theirs.begin(), theirs.end());
  const int64_t same = differ.first - ours.begin();
  return first_different_row(a.subspan(0, same), b.subspan(0, same));
}

}  // namespace rc::engine
