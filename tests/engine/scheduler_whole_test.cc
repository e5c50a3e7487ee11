// Steps of candidates that cannot be cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "scheduler_util.h"

namespace rc::engine {
namespace {

Budget wide_whole(int64_t rows_alone) {
  Budget budget = wide();
  budget.whole = true;
  budget.prompt_rows_alone = rows_alone;
  return budget;
}

TEST(WholeCandidates, FillAStepInOrder) {
  const std::vector<Candidate> all = {prompt(1, 40), prompt(2, 33),
                                      prompt(3, 8), prompt(4, 24)};
  EXPECT_EQ(schedule(all, wide_whole(72)).rows, Rows({40, 0, 8, 24}));
  // The first has its rows even if that takes longer than steps should.
  EXPECT_EQ(schedule(all, wide_whole(16)).rows, Rows({40, 0, 0, 0}));
}

TEST(WholeCandidates, FillTheRowsOfATile) {
  const Budget budget = wide_whole(32);
  std::vector<Candidate> all = {prompt(1, 13), prompt(2, 1), prompt(3, 10),
                                prompt(4, 9),  prompt(5, 7), prompt(6, 8)};
  const char tenant = 0;
  all[1].tenant = all[3].tenant = &tenant;
  EXPECT_EQ(schedule(all, budget).rows, Rows({13, 1, 10, 0, 0, 8}));
  // Nothing is taken for another tenant, or another priority.
  all[5].tenant = &tenant;
  EXPECT_EQ(schedule(all, budget).rows, Rows({13, 1, 10, 0, 7, 0}));
  all[5].tenant = nullptr;
  all[5].priority = -1;
  EXPECT_EQ(schedule(all, budget).rows, Rows({13, 1, 10, 0, 7, 0}));
  // Nothing is taken for a step that would be much smaller.
  EXPECT_EQ(
      schedule({{prompt(1, 1), prompt(2, 26), prompt(3, 15)}}, budget).rows,
      Rows({1, 26, 0}));
  // The first in turn does not wait.
  EXPECT_EQ(schedule({{prompt(1, 13), prompt(2, 24)}}, budget).rows,
            Rows({13, 0}));
}

TEST(WholeCandidates, KeepTheBudget) {
  std::mt19937 random(3);
  const auto in = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  const char tenants[2] = {};
  for (int round = 0; round < 2000; ++round) {
    Budget budget;
    budget.whole = true;
    budget.rows = in(40, 64);
    budget.outputs = in(40, 64);
    budget.sequences = in(1, 8);
    budget.pages = in(40, 60);
    budget.page_size = in(1, 8);
    budget.prompt_rows_alone = in(1, 64);
    std::vector<Candidate> all(static_cast<size_t>(in(1, 24)));
    uint64_t arrival = 0;
    for (Candidate& c : all) {
      c.arrival = ++arrival;
      c.last_step = static_cast<uint64_t>(in(0, 3));
      c.rows_left = in(1, 40);
      c.outputs = in(0, 1) == 0 ? INT64_MAX : 1;
      c.tenant = &tenants[in(0, 1)];
    }
    const Schedule plan = schedule(all, budget);
    int64_t rows = 0, outputs = 0, sequences = 0, pages = 0;
    uint64_t first = 4;
    for (size_t i = 0; i < all.size(); ++i) {
      const int64_t n = plan.rows[i];
      ASSERT_TRUE(n == 0 || n == all[i].rows_left);
      rows += n;
      sequences += n > 0;
      outputs += std::min(all[i].outputs, n);
      pages += pages_taken(all[i], n, budget.page_size);
      if (n > 0) first = std::min(first, all[i].last_step);
    }
    ASSERT_GT(sequences, 0);
    ASSERT_LE(sequences, budget.sequences);
    ASSERT_LE(rows, budget.rows);
    ASSERT_LE(outputs, budget.outputs);
    ASSERT_LE(pages, budget.pages);
    ASSERT_TRUE(sequences == 1 || rows <= budget.prompt_rows_alone);
    // One of the least recently served candidates is scheduled.
    for (const Candidate& c : all) ASSERT_GE(c.last_step, first);
  }
}

}  // namespace
}  // namespace rc::engine
