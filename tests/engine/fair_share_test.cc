// Shares of tenants over many steps, as the scheduler gives them.
#include "engine/fair_share.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "scheduler_util.h"

namespace rc::engine {
namespace {

const char kNames[64] = {};
const void* tenant(size_t i) { return &kNames[i]; }

TEST(FairShareTest, LeadsOfEqualUseStayZero) {
  FairShare share;
  for (int i = 0; i < 100; ++i) {
    share.add({{tenant(0), {1.0, 0.02, true}}, {tenant(1), {2.0, 0.04, true}}});
  }
  EXPECT_NEAR(share.lead(tenant(0)), 0, 1e-9);
  EXPECT_NEAR(share.lead(tenant(1)), 0, 1e-9);
  EXPECT_EQ(share.lead(tenant(2)), 0);
}

TEST(FairShareTest, LeadIsTheTimeBeyondTheShareByWeight) {
  FairShare share;
  share.add({{tenant(0), {1.0, 0.03, true}}, {tenant(1), {3.0, 0.03, true}}});
  // A fair share is 0.015 for each unit of weight.
  EXPECT_NEAR(share.lead(tenant(0)), 0.015, 1e-9);
  EXPECT_NEAR(share.lead(tenant(1)), -0.005, 1e-9);
}

TEST(FairShareTest, TimeThatOthersDoNotWantIsFree) {
  FairShare share;
  for (int i = 0; i < 1000; ++i) {
    share.add(
        {{tenant(0), {1.0, 0.001, false}}, {tenant(1), {1.0, 0.039, true}}});
  }
  EXPECT_NEAR(share.lead(tenant(1)), 0, 1e-9);
  // The other has saved up a bounded credit.
  EXPECT_NEAR(share.lead(tenant(0)), -FairShare::kMostBehind / 2, 1e-9);
}

TEST(FairShareTest, LeadsAreBounded) {
  FairShare share;
  for (int i = 0; i < 1000; ++i) {
    share.add({{tenant(0), {2.0, 0.04, true}}, {tenant(1), {1.0, 0.0, true}}});
  }
  EXPECT_NEAR(share.lead(tenant(0)), FairShare::kMostAhead / 2, 1e-9);
  EXPECT_NEAR(share.lead(tenant(1)), -FairShare::kMostBehind / 3, 1e-9);
}

TEST(FairShareTest, LeadsAreForgottenWithoutCompetition) {
  FairShare share;
  share.add({{tenant(0), {1.0, 0.4, true}}, {tenant(1), {1.0, 0.1, true}}});
  EXPECT_NEAR(share.lead(tenant(0)), 0.15, 1e-9);
  share.add({{tenant(0), {1.0, 0.05, false}}, {tenant(1), {1.0, 0.05, false}}});
  EXPECT_NEAR(share.lead(tenant(0)), 0.9 * 0.15, 1e-9);
  // The others compete, and this one is away.
  share.add({{tenant(1), {1.0, 0.05, true}}, {tenant(2), {1.0, 0.05, true}}});
  EXPECT_NEAR(share.lead(tenant(0)), 0.81 * 0.15, 1e-9);
  share.add({{tenant(1), {1.0, 2.0, true}}});
  EXPECT_EQ(share.lead(tenant(0)), 0);
}

TEST(FairShareTest, RowsRaiseLeadsToALevel) {
  FairRows a{1.0, 0.0, 0.0}, b{3.0, 0.0, 0.0}, c{1.0, 0.5, 0.0};
  std::vector<FairRows*> all = {&c, &a, &b};
  // The third is ahead of what 80 rows of a hundredth make up for.
  divide_rows(80, 0.01, all);
  EXPECT_NEAR(a.rows, 20, 1e-9);
  EXPECT_NEAR(b.rows, 60, 1e-9);
  EXPECT_EQ(c.rows, 0);
  // Of 300 rows 200 bring the others to its lead.
  divide_rows(300, 0.01, all);
  EXPECT_NEAR(a.rows, 70, 1e-9);
  EXPECT_NEAR(b.rows, 210, 1e-9);
  EXPECT_NEAR(c.rows, 20, 1e-9);
  // Without the time of a row weights alone count.
  divide_rows(100, 0, all);
  EXPECT_NEAR(c.rows, 20, 1e-9);
}

// A tenant whose requests never end: streams, and prompts of a length that are
// followed by the next.
struct Load {
  double weight = 1;
  int streams = 0;
  int prompts = 0;
};

// The time of each tenant over that of its share, after many steps; a row takes
// half a millisecond.
std::vector<double> shares_after(const std::vector<Load>& loads, int steps) {
  constexpr double kSecondsPerRow = 0.0005;
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < loads.size(); ++i) {
    for (int n = 0; n < loads[i].streams + loads[i].prompts; ++n) {
      Candidate c;
      c.arrival = candidates.size() + 1;
      c.decoding = n < loads[i].streams;
      // Prompts do not end together.
      c.rows_left = c.decoding ? 1 : 256 - 37 * n % 200;
      c.tenant = tenant(i);
      c.weight = loads[i].weight;
      c.room = 1'000'000;
      candidates.push_back(c);
    }
  }
  Budget budget;
  budget.rows = 512;
  budget.outputs = budget.sequences = 512;
  budget.pages = 1000;
  budget.prompt_rows_alone = 800;
  budget.seconds_per_row = kSecondsPerRow;
  FairShare share;
  std::vector<double> seconds(loads.size(), 0.0);
  for (int step = 1; step <= steps; ++step) {
    int64_t decoding = 0;
    for (Candidate& c : candidates) {
      c.lead = share.lead(c.tenant);
      decoding += c.decoding ? 1 : 0;
    }
    budget.prompt_rows_while_decoding = std::max<int64_t>(80 - decoding, 16);
    const Schedule plan = schedule(candidates, budget);
    FairShare::Uses uses;
    for (size_t i = 0; i < candidates.size(); ++i) {
      Candidate& c = candidates[i];
      FairShare::Use& use = uses[c.tenant];
      use.weight = c.weight;
      use.backlogged |= plan.rows[i] < c.rows_left;
      const double time = static_cast<double>(plan.rows[i]) * kSecondsPerRow;
      use.seconds += time;
      if (step > steps / 5) {
        seconds[static_cast<size_t>(static_cast<const char*>(c.tenant) -
                                    kNames)] += time;
      }
      if (plan.rows[i] > 0) c.last_step = static_cast<uint64_t>(step);
      if (!c.decoding) {
        c.rows_left -= plan.rows[i];
        if (c.rows_left == 0) c.rows_left = 256;
      }
    }
    share.add(uses);
  }
  double all = 0, weights = 0;
  for (size_t i = 0; i < loads.size(); ++i) {
    all += seconds[i];
    weights += loads[i].weight;
  }
  for (size_t i = 0; i < loads.size(); ++i) {
    seconds[i] /= all * loads[i].weight / weights;
  }
  return seconds;
}

TEST(FairShareTest, BackloggedTenantsGetTheirWeights) {
  for (const int count : {2, 8, 64}) {
    std::vector<Load> loads;
    for (int i = 0; i < count; ++i) {
      // Some with many streams, some with few; all have prompts that wait.
      loads.push_back({static_cast<double>(1 << i % 4), i % 3 * 2, 2 + i % 4});
    }
    const std::vector<double> shares = shares_after(loads, 5000);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < shares.size(); ++i) {
      EXPECT_NEAR(shares[i], 1.0, 0.03)
          << count << " tenants, the one of " << i;
      sum += shares[i];
      squares += shares[i] * shares[i];
    }
    EXPECT_GE(sum * sum / (squares * count), 0.99);
  }
}

// Streams of a tenant of little weight wait while others could use the time,
// and do not otherwise.
TEST(FairShareTest, StreamsOfALightTenantKeepToItsShare) {
  const std::vector<double> shares =
      shares_after({{1, 40, 0}, {9, 0, 4}}, 2000);
  EXPECT_NEAR(shares[0], 1.0, 0.03);
  EXPECT_NEAR(shares[1], 1.0, 0.03);
  // The other has streams alone, which need no more than they get.
  const std::vector<double> all = shares_after({{1, 40, 0}, {9, 40, 0}}, 100);
  EXPECT_NEAR(all[0], 5.0, 1e-9);
}

TEST(FairShareTest, AStreamIsNotHeldUpByPromptsOfOthers) {
  Candidate stream;
  stream.arrival = 1;
  stream.decoding = true;
  stream.tenant = tenant(0);
  stream.lead = 0;
  stream.room = 100;
  Candidate long_prompt = prompt(2, 4000);
  long_prompt.tenant = tenant(1);
  long_prompt.lead = -FairShare::kMostBehind / 2;
  Budget budget = wide();
  budget.seconds_per_row = 0.001;
  EXPECT_EQ(schedule({{stream, long_prompt}}, budget).rows[0], 1);
  // Far ahead it waits, unless the others leave room.
  stream.lead = 0.1;
  EXPECT_EQ(schedule({{stream, long_prompt}}, budget).rows, Rows({0, 64}));
  EXPECT_EQ(schedule({{stream, prompt(2, 10)}}, budget).rows, Rows({1, 10}));
  // Nothing is known of the time that rows take.
  budget.seconds_per_row = 0;
  EXPECT_EQ(schedule({{stream, long_prompt}}, budget).rows[0], 1);
}

TEST(FairShareTest, PromptsOfATenantAheadWait) {
  Candidate ahead = prompt(1, 100);
  ahead.tenant = tenant(0);
  ahead.lead = 0.1;
  Candidate behind = prompt(2, 1000);
  behind.tenant = tenant(1);
  Budget budget = wide();
  budget.prompt_rows_alone = 64;
  budget.seconds_per_row = 0.001;  // 100 rows ahead
  EXPECT_EQ(schedule({{ahead, behind}}, budget).rows, Rows({0, 64}));
  // Rows that the other does not want go to the one that is ahead.
  behind.rows_left = 20;
  EXPECT_EQ(schedule({{ahead, behind}}, budget).rows, Rows({44, 20}));
  // Half of the lead is made up for by this step.
  ahead.lead = 0.032;
  behind.rows_left = 1000;
  EXPECT_EQ(schedule({{ahead, behind}}, budget).rows, Rows({16, 48}));
}

}  // namespace
}  // namespace rc::engine
