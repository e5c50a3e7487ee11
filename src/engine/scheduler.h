// Says who gets how many rows in the next step: pure functions over plain
// counters, so that the policy is tested without a model.
//
// The policy, in this order:
// - Greater priority before lower; within a priority the older request owns
//   its pages: when the cache has no page left for it, the youngest running
//   request gives its own back (it is computed again later).
// - Decoding requests get their rows first. If they are more than a step takes,
//   the tenants of one priority have places by their weights, and of a tenant
//   those served longest ago come first.
// - Prompts of one priority share the rest of the rows: tenants by their
//   weights, the prompts of a tenant evenly, so a long one does not stall a
//   short one, nor a tenant with many requests one with few. Those that cannot
//   be cut are taken whole, in turn, as many as fit.
// - A tenant that has had more than its share of the time (fair_share.h) gets
//   fewer rows for its prompts, and if it is far ahead none for its streams, as
//   long as prompts of others fill the step.
// - Sources come before prompts; one of them is read even if that takes longer
//   than steps should.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rc::engine {

struct Candidate {
  int32_t priority = 0;
  uint64_t arrival = 0;    // order of arrival, no two alike
  uint64_t last_step = 0;  // in which it got rows; 0: never
  int64_t rows_left = 1;   // not evaluated yet, at least 1
  bool decoding = false;   // the rows left are tokens just generated
  // The rows left are those of a source: it has all of them in one step, in a
  // run separate from that of the others, or none, and no outputs.
  bool source = false;
  int64_t outputs = 1;           // of so many of its last rows, at least 1
  const void* tenant = nullptr;  // whose request it is
  double weight = 1.0;  // of the tenant, more than 0, in all its candidates
  double lead = 0.0;    // likewise; see FairShare
  // Rows that fit into the pages that it has, and the pages it has to take
  // before it can write to them at all (1: its last page is shared).
  int64_t room = 0;
  int64_t pages_first = 0;
  // Pages that come free if it is preempted.
  int64_t pages_owned = 0;
};

struct Budget {
  int64_t rows = 0;  // and as many of sources; likewise sequences
  int64_t outputs = 0;
  int64_t sequences = 0;
  int64_t pages = 0;      // that can be taken
  int64_t page_size = 1;  // rows
  // The most prompt rows of a step: with decoding rows, and without.
  int64_t prompt_rows_while_decoding = 0;
  int64_t prompt_rows_alone = 0;
  // About how long a row takes; 0: unknown, and then leads do not count.
  double seconds_per_row = 0.0;
  // A candidate has all of its rows in one step, or none: they see each other.
  // The first in turn has them even if that takes longer than steps should.
  bool whole = false;
};

struct Schedule {
  std::vector<int64_t> rows;      // by candidate
  std::vector<size_t> preempted;  // candidates whose pages must be released
};

// No job gets a row only if the budget has no room for any, or the first in
// rank cannot get a page even after all others gave up what they own alone.
Schedule schedule(std::span<const Candidate> candidates, const Budget& budget);

// Learns how long rows take, to bound the time of a step.
class StepClock {
 public:
  // Steps of few rows show nothing: they are bound by reading the weights.
  static constexpr int64_t kLeastRows = 16;

  void observe(int64_t rows, double seconds);
  // Returns the number of rows with which a step lasts about that long, but not
  // less than `least`.
  int64_t rows_within(double seconds, int64_t least = kLeastRows) const;
  // 0: nothing is known.
  double seconds_per_row() const { return seconds_per_row_; }

 private:
  double seconds_per_row_ = 0.0;  // 0: nothing is known
};

}  // namespace rc::engine
