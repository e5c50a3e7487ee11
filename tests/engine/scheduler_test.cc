#include "engine/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "scheduler_util.h"

namespace rc::engine {
namespace {

Candidate decoding(uint64_t arrival) {
  Candidate c;
  c.arrival = arrival;
  c.decoding = true;
  c.room = 5;
  c.pages_owned = 2;
  return c;
}

TEST(Scheduler, ReturnsEmptyScheduleForNoCandidates) {
  const Schedule plan = schedule({}, wide());
  EXPECT_TRUE(plan.rows.empty());
  EXPECT_TRUE(plan.preempted.empty());
}

TEST(Scheduler, SinglePromptTakesTheWholeStep) {
  // In even pieces, of which kernels take multiples of eight.
  EXPECT_EQ(schedule({{prompt(1, 2000)}}, wide()).rows, Rows({504}));
  EXPECT_EQ(schedule({{prompt(1, 513)}}, wide()).rows, Rows({264}));
  EXPECT_EQ(schedule({{prompt(1, 512)}}, wide()).rows, Rows({512}));
}

Candidate source(uint64_t arrival, int64_t rows) {
  Candidate c = prompt(arrival, rows);
  c.source = true;
  return c;
}

TEST(Scheduler, SourcesAreReadWholeInASeparateRun) {
  // Sources are in a separate run, so that a full step of other requests does
  // not delay them.
  EXPECT_EQ(schedule({{prompt(1, 512), source(2, 512)}}, wide()).rows,
            Rows({0, 512}));
  EXPECT_EQ(
      schedule({{decoding(1), source(2, 512), source(3, 30)}}, wide()).rows,
      Rows({1, 512, 0}));
  EXPECT_EQ(
      schedule({{decoding(1), source(2, 30), source(3, 30)}}, wide()).rows,
      Rows({1, 30, 30}));
  // The time of sources is taken from that of prompts.
  EXPECT_EQ(
      schedule({{decoding(1), source(2, 30), prompt(3, 100)}}, wide()).rows,
      Rows({1, 30, 34}));
  Budget budget = wide();
  budget.sequences = 1;
  EXPECT_EQ(schedule({{source(1, 30), source(2, 30)}}, budget).rows,
            Rows({30, 0}));
}

TEST(Scheduler, SourceWaitsForAllOfItsPages) {
  Budget budget = wide();
  budget.pages = 3;
  EXPECT_EQ(schedule({{source(1, 96)}}, budget).rows, Rows({96}));
  EXPECT_EQ(schedule({{source(1, 97)}}, budget).rows, Rows({0}));
  // The first in rank has those of the youngest.
  Candidate young = decoding(2);
  young.pages_owned = 1;
  const Schedule plan = schedule({{source(1, 97), young}}, budget);
  EXPECT_EQ(plan.rows, Rows({97, 0}));
  EXPECT_EQ(plan.preempted, std::vector<size_t>({1}));
}

TEST(Scheduler, UncuttableTextsGetAllRowsOrNone) {
  Budget budget = wide();
  budget.whole = true;
  const Candidate all[] = {prompt(1, 300), prompt(2, 300), prompt(3, 200)};
  EXPECT_EQ(schedule(all, budget).rows, Rows({300, 0, 200}));
  // The first in turn goes even beyond the time of a step.
  budget.prompt_rows_alone = 100;
  EXPECT_EQ(schedule(all, budget).rows, Rows({300, 0, 0}));
  // It is not begun without the pages for its end.
  budget.prompt_rows_alone = 512;
  budget.pages = 5;
  EXPECT_EQ(schedule({{prompt(1, 200)}}, budget).rows, Rows({0}));
  // Rows reserved for the first rows of other requests are of no use here.
  budget.pages = 7;
  EXPECT_EQ(schedule({{prompt(1, 200), prompt(2, 10)}}, budget).rows,
            Rows({200, 0}));
  // One for which a step has no room at all waits for none.
  budget.pages = 1000;
  EXPECT_EQ(schedule({{prompt(1, 513), prompt(2, 10)}}, budget).rows,
            Rows({0, 10}));
}

TEST(Scheduler, LongTextIsNotStarvedByShortOnes) {
  Budget budget = wide();
  budget.whole = true;
  // Short ones came later: it has its turn before them.
  const Candidate all[] = {prompt(1, 500), prompt(2, 20), prompt(3, 20)};
  EXPECT_EQ(schedule(all, budget).rows, Rows({500, 0, 0}));
}

TEST(Scheduler, PromptRowsAreLimitedDuringDecoding) {
  const Candidate all[] = {prompt(1, 2000), decoding(2), decoding(3)};
  EXPECT_EQ(schedule(all, wide()).rows, Rows({64, 1, 1}));
}

TEST(Scheduler, DecodingComesFirstWhenRowsAreFew) {
  Budget budget = wide();
  budget.rows = 2;
  const Candidate all[] = {prompt(1, 2000), decoding(2), decoding(3)};
  EXPECT_EQ(schedule(all, budget).rows, Rows({0, 1, 1}));
}

TEST(Scheduler, PromptsShareRowsEvenly) {
  const Candidate all[] = {prompt(1, 5000), prompt(2, 10), prompt(3, 5000)};
  EXPECT_EQ(schedule(all, wide()).rows, Rows({251, 10, 251}));
}

TEST(Scheduler, GreaterPriorityGoesFirst) {
  Candidate urgent = prompt(9, 600);
  urgent.priority = 1;
  const Candidate all[] = {prompt(1, 100), urgent};
  EXPECT_EQ(schedule(all, wide()).rows, Rows({0, 512}));
}

TEST(Scheduler, LeastRecentlyServedComeFirst) {
  Budget budget = wide();
  budget.sequences = 2;
  Candidate all[] = {decoding(1), decoding(2), decoding(3)};
  all[0].last_step = 7;
  all[1].last_step = 5;
  all[2].last_step = 6;
  EXPECT_EQ(schedule(all, budget).rows, Rows({0, 1, 1}));
}

TEST(Scheduler, RowsToVerifyAreServedTogether) {
  Candidate all[] = {prompt(1, 2000), decoding(2), decoding(3)};
  all[1].rows_left = all[1].outputs = 5;
  EXPECT_EQ(schedule(all, wide()).rows, Rows({64, 5, 1}));
  Budget budget = wide();
  budget.outputs = 4;
  EXPECT_EQ(schedule(all, budget).rows, Rows({64, 4, 0}));
  // Rows before those that are wanted need no output.
  all[1].outputs = 2;
  EXPECT_EQ(schedule(all, budget).rows, Rows({64, 5, 1}));
}

TEST(Scheduler, PromptsOfTenantsShareByWeight) {
  const char tenants[2] = {};
  Candidate all[] = {prompt(1, 900), prompt(2, 900), prompt(3, 900),
                     prompt(4, 900)};
  for (Candidate& c : all) c.tenant = &tenants[0];
  EXPECT_EQ(schedule(all, wide()).rows, Rows({128, 128, 128, 128}));
  all[3].tenant = &tenants[1];
  EXPECT_EQ(schedule(all, wide()).rows, Rows({86, 85, 85, 256}));
  all[3].weight = 3;
  EXPECT_EQ(schedule(all, wide()).rows, Rows({43, 43, 42, 384}));
  // Rows that a tenant does not need go to the other tenants.
  all[3].rows_left = 62;
  EXPECT_EQ(schedule(all, wide()).rows, Rows({150, 150, 150, 62}));
}

TEST(Scheduler, TenantsHavePlacesByWeight) {
  const char tenants[2] = {};
  std::vector<Candidate> all;
  for (uint64_t i = 0; i < 20; ++i) {
    all.push_back(decoding(i + 1));
    all.back().last_step = 20 - i;
    all.back().tenant = &tenants[i < 10 ? 0 : 1];
    if (i >= 10) all.back().weight = 3;
  }
  Budget budget = wide();
  budget.sequences = 8;
  // The least recently served requests of each tenant are the last ones.
  Rows expected(20, 0);
  for (const size_t i : {8, 9, 14, 15, 16, 17, 18, 19}) expected[i] = 1;
  EXPECT_EQ(schedule(all, budget).rows, expected);
}

TEST(Scheduler, OutputsLimitRequestsOfAllLogits) {
  Candidate all[] = {prompt(1, 500), decoding(2)};
  all[0].outputs = INT64_MAX;
  Budget budget = wide();
  budget.outputs = 16;
  budget.prompt_rows_while_decoding = 100;
  EXPECT_EQ(schedule(all, budget).rows, Rows({15, 1}));
}

TEST(Scheduler, OldestTakesPagesOfTheYoungest) {
  Budget budget = wide();
  budget.pages = 0;
  Candidate all[] = {decoding(3), decoding(1), decoding(2)};
  all[1].room = 0;
  const Schedule plan = schedule(all, budget);
  EXPECT_EQ(plan.rows, Rows({0, 1, 1}));
  EXPECT_EQ(plan.preempted, std::vector<size_t>({0}));
}

TEST(Scheduler, YoungestWaitsForPages) {
  Budget budget = wide();
  budget.pages = 0;
  Candidate all[] = {decoding(1), decoding(2)};
  all[1].room = 0;
  const Schedule plan = schedule(all, budget);
  EXPECT_EQ(plan.rows, Rows({1, 0}));
  EXPECT_TRUE(plan.preempted.empty());
}

TEST(Scheduler, DoesNotStartPromptsThatCannotFinish) {
  Budget budget = wide();
  budget.pages = 3;
  const Candidate all[] = {decoding(1), prompt(2, 96)};
  EXPECT_EQ(schedule(all, budget).rows, Rows({1, 0}));
  budget.pages = 4;
  EXPECT_EQ(schedule(all, budget).rows, Rows({1, 48}));
}

TEST(Scheduler, PagesLimitTheRowsOfAPrompt) {
  Budget budget = wide();
  budget.pages = 2;
  EXPECT_EQ(schedule({{prompt(1, 500)}}, budget).rows, Rows({64}));
  Candidate shared = prompt(1, 500);
  shared.room = 10;
  shared.pages_first = 1;
  EXPECT_EQ(schedule({{shared}}, budget).rows, Rows({42}));
}

TEST(Scheduler, ServesNoCandidateWithoutPages) {
  Budget budget = wide();
  budget.pages = 0;
  EXPECT_EQ(schedule({{prompt(1, 5)}}, budget).rows, Rows({0}));
}

TEST(Scheduler, BudgetIsKeptForRandomCandidates) {
  std::mt19937 random(1);
  const auto in = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  const char tenants[3] = {};
  for (int round = 0; round < 5000; ++round) {
    Budget budget;
    budget.rows = in(1, 64);
    budget.outputs = in(1, 16);
    budget.sequences = in(1, 16);
    budget.pages = in(0, 20);
    budget.page_size = in(1, 8);
    budget.prompt_rows_while_decoding = in(1, 40);
    budget.prompt_rows_alone = in(1, 64);
    std::vector<Candidate> all(static_cast<size_t>(in(1, 24)));
    uint64_t arrival = 0;
    for (Candidate& c : all) {
      c.arrival = ++arrival;
      c.priority = static_cast<int32_t>(in(-1, 1));
      c.last_step = static_cast<uint64_t>(in(0, 9));
      c.decoding = in(0, 1) == 1;
      c.rows_left = c.decoding ? in(1, 4) : in(1, 100);
      c.outputs = in(0, 4) == 0 ? INT64_MAX : in(1, 5);
      c.tenant = &tenants[in(0, 2)];
      c.weight = static_cast<double>(c.tenant == &tenants[0] ? 7 : 1) / 3;
      c.room = in(0, budget.page_size - 1);
      c.pages_first = c.room > 0 && in(0, 3) == 0 ? 1 : 0;
      c.pages_owned = in(0, 5);
    }
    std::shuffle(all.begin(), all.end(), random);
    const Schedule plan = schedule(all, budget);

    int64_t rows = 0, outputs = 0, sequences = 0, pages = 0, decoded = 0,
            prompt_rows = 0, freed = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      const int64_t n = plan.rows[i];
      ASSERT_GE(n, 0);
      ASSERT_LE(n, all[i].rows_left);
      rows += n;
      sequences += n > 0;
      pages += pages_taken(all[i], n, budget.page_size);
      const int64_t unseen = all[i].rows_left - all[i].outputs;
      outputs += std::clamp<int64_t>(n - unseen, 0, n);
      (all[i].decoding ? decoded : prompt_rows) += n;
    }
    for (size_t victim : plan.preempted) {
      ASSERT_EQ(plan.rows[victim], 0);
      freed += all[victim].pages_owned;
    }
    ASSERT_LE(rows, budget.rows);
    ASSERT_LE(outputs, budget.outputs);
    ASSERT_LE(sequences, budget.sequences);
    ASSERT_LE(pages, budget.pages + freed);
    ASSERT_LE(prompt_rows, decoded > 0 ? budget.prompt_rows_while_decoding
                                       : budget.prompt_rows_alone);
  }
}

// Requests of many lengths on a small cache, played to the end: everybody gets
// through, and the work done in vain stays bounded.
TEST(Scheduler, EveryRequestFinishesOnASmallCache) {
  std::mt19937 random(2);
  const auto in = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  struct Player {
    int64_t prompt, length, evaluated = 0, pages = 0;
    uint64_t last_step = 0;
    bool done = false;
  };
  for (int round = 0; round < 50; ++round) {
    const int64_t pool = 12, page_size = 4;
    std::vector<Player> players(20);
    for (Player& p : players) {
      p.prompt = in(1, 30);
      p.length = p.prompt + in(1, 16);  // at most 46 of the pool's 48
    }
    uint64_t step = 0;
    size_t left = players.size();
    int64_t useful = 0;
    for (const Player& p : players) useful += p.length;
    int64_t done = 0;
    while (left > 0) {
      ASSERT_LT(++step, 5000u) << left << " are starving";
      Budget budget;
      budget.rows = 16;
      budget.outputs = budget.sequences = 4;
      budget.page_size = page_size;
      budget.prompt_rows_while_decoding = 8;
      budget.prompt_rows_alone = 16;
      budget.pages = pool;
      std::vector<Candidate> all;
      std::vector<Player*> owners;
      for (size_t i = 0; i < players.size(); ++i) {
        Player& p = players[i];
        if (p.done) continue;
        Candidate c;
        c.arrival = i;
        c.last_step = p.last_step;
        const int64_t known = std::max(p.prompt, p.evaluated + 1);
        c.rows_left = known - p.evaluated;
        c.decoding = p.evaluated >= p.prompt;
        c.room = p.pages * page_size - p.evaluated;
        c.pages_owned = p.pages;
        budget.pages -= p.pages;
        all.push_back(c);
        owners.push_back(&p);
      }
      const Schedule plan = schedule(all, budget);
      for (size_t victim : plan.preempted) {
        owners[victim]->pages = 0;
        // Generated tokens are part of the prompt now.
        owners[victim]->prompt =
            std::max(owners[victim]->prompt, owners[victim]->evaluated);
        owners[victim]->evaluated = 0;
      }
      int64_t given = 0;
      for (size_t i = 0; i < all.size(); ++i) {
        const int64_t n = plan.rows[i];
        if (n == 0) continue;
        given += n;
        Player& p = *owners[i];
        p.last_step = step;
        p.pages += pages_taken(all[i], n, page_size);
        p.evaluated += n;
        if (p.evaluated >= p.length) {
          p.done = true;
          --left;
        }
      }
      ASSERT_GT(given, 0);
      done += given;
    }
    EXPECT_LT(done, 3 * useful);
  }
}

TEST(StepClock, ConvergesToTheRateAndKeepsItsMinimum) {
  StepClock clock;
  EXPECT_EQ(clock.rows_within(0.040), 64);
  clock.observe(1, 100.0);  // too few rows for an estimate
  EXPECT_EQ(clock.rows_within(0.040), 64);
  for (int i = 0; i < 20; ++i) clock.observe(100, 0.1);
  EXPECT_EQ(clock.rows_within(0.0401), 40);
  for (int i = 0; i < 20; ++i) clock.observe(100, 100.0);
  EXPECT_EQ(clock.rows_within(0.040), StepClock::kLeastRows);
  EXPECT_EQ(clock.rows_within(0.040, 1), 1);
}

}  // namespace
}  // namespace rc::engine
