// Budgets and candidates for tests of the scheduler.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/scheduler.h"

namespace rc::engine {

inline Budget wide() {
  Budget budget;
  budget.rows = 512;
  budget.outputs = 64;
  budget.sequences = 64;
  budget.pages = 1000;
  budget.page_size = 32;
  budget.prompt_rows_while_decoding = 64;
  budget.prompt_rows_alone = 512;
  return budget;
}

inline Candidate prompt(uint64_t arrival, int64_t rows) {
  Candidate c;
  c.arrival = arrival;
  c.rows_left = rows;
  return c;
}

using Rows = std::vector<int64_t>;

// Pages that the candidate takes for its rows.
inline int64_t pages_taken(const Candidate& c, int64_t rows,
                           int64_t page_size) {
  if (rows == 0) return 0;
  return c.pages_first +
         (std::max<int64_t>(rows - c.room, 0) + page_size - 1) / page_size;
}

}  // namespace rc::engine
