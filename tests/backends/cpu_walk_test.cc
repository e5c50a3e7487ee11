// Teams share the units of steps, also those of a thread that has lost its
// processor.
#include "cpu/walk.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "cpu/units.h"

namespace rc::cpu {
namespace {

TEST(Units, EachIsTakenOnce) {
  Units units(3, 0);
  uint64_t turn = 0;
  for (int64_t count : {0, 1, 2, 7, 100}) {
    for (int64_t grain : {1, 3, 1000}) {
      units.open(++turn, count, 1, grain);
      std::set<int64_t> pieces;
      Units::Unit unit;
      for (int thread = 0; units.take(turn, thread, &unit);
           thread = (thread + 1) % 3) {
        EXPECT_LT(unit.begin, unit.end);
        EXPECT_LE(unit.end - unit.begin, grain);
        for (int64_t i = unit.begin; i < unit.end; ++i) {
          EXPECT_TRUE(pieces.insert(i).second) << i;
        }
        EXPECT_FALSE(units.all_done());
        units.done(unit);
      }
      EXPECT_EQ(static_cast<int64_t>(pieces.size()), count);
      EXPECT_TRUE(units.all_done());
    }
  }
}

TEST(Units, ThreadsBeginWithTheirOwnRange) {
  Units units(2, 0);
  units.open(1, 12, 4, 1);
  Units::Unit unit;
  ASSERT_TRUE(units.take(1, 1, &unit));
  EXPECT_EQ(unit.begin % 4, 0) << "a range begins at a multiple";
  EXPECT_GT(unit.begin, 0);
  ASSERT_TRUE(units.take(1, 0, &unit));
  EXPECT_EQ(unit.begin, 0);
}

TEST(Units, UnitsOfAnotherTurnCannotBeTaken) {
  Units units(2, 4);
  units.open(1, 4, 1, 1);
  Units::Unit unit;
  ASSERT_TRUE(units.take(1, 0, &unit));
  units.open(2, 4, 1, 1);
  EXPECT_FALSE(units.take(1, 0, &unit));
  EXPECT_FALSE(units.find_held(1, 0, &unit));
  EXPECT_TRUE(units.take(2, 0, &unit));
}

TEST(Units, FirstFinishedThreadCommits) {
  Units units(2, 4);
  units.open(1, 2, 1, 1);
  Units::Unit held, unit;
  ASSERT_TRUE(units.take(1, 0, &held));
  ASSERT_TRUE(units.take(1, 0, &unit));
  int puts = 0;
  EXPECT_TRUE(units.wanted(1, unit));
  EXPECT_TRUE(units.commit(1, unit, [&] { ++puts; }));
  EXPECT_FALSE(units.wanted(1, unit));
  EXPECT_FALSE(units.all_done());
  // Another thread finds the one that is left.
  Units::Unit found;
  ASSERT_TRUE(units.find_held(1, 0, &found));
  EXPECT_EQ(found.begin, held.begin);
  EXPECT_TRUE(units.commit(1, found, [&] { ++puts; }));
  EXPECT_TRUE(units.all_done());
  EXPECT_FALSE(units.find_held(1, 0, &found));
  // The thread that held it is late, in this turn and in the next ones.
  EXPECT_FALSE(units.commit(1, held, [&] { ++puts; }));
  units.open(2, 2, 1, 1);
  EXPECT_FALSE(units.wanted(1, held));
  EXPECT_FALSE(units.commit(1, held, [&] { ++puts; }));
  EXPECT_TRUE(units.wanted(2, held));
  EXPECT_EQ(puts, 2);
}

// Steps whose pieces are functions.
class Steps {
 public:
  using Work = std::function<void(Run&, const Share&)>;
  static constexpr int64_t kCost = 1 << 20;  // worth waking a thread

  Step& add(int64_t pieces, Work work, bool repeatable = false,
            int64_t cost = kCost) {
    struct Function final : Step {
      int64_t cost(const Run&) const override { return cost_; }
      int64_t pieces(const Run&) const override { return pieces_; }
      void work(Run& run, const Share& share) const override {
        work_(run, share);
      }
      int64_t cost_, pieces_;
      Work work_;
    };
    auto step = std::make_unique<Function>();
    step->cost_ = cost;
    step->pieces_ = pieces;
    step->work_ = std::move(work);
    step->repeatable = repeatable ? pieces : 0;
    // Each waits for all before it.
    for (size_t i = 0; i < steps_.size(); ++i) {
      step->conflicts.push_back(static_cast<int32_t>(i));
    }
    step->op = static_cast<int32_t>(steps_.size());
    steps_.push_back(std::move(step));
    return *steps_.back();
  }

  rc_status run(Pool& pool, int times = 1,
                std::function<int32_t()> should_stop = {}) {
    const Kernels kernels{};
    Run run(nullptr, kernels);
    Walk walk(pool, steps_, run, true);
    rc_plugin_run request{};
    request.struct_size = sizeof request;
    if (should_stop) {
      request.user = &should_stop;
      request.should_stop = [](void* user) {
        return (*static_cast<std::function<int32_t()>*>(user))();
      };
    }
    for (int i = 0; i < times && run.status() == RC_OK; ++i) {
      run.begin(request, nullptr);
      walk.run();
      if (run.status() == RC_OK) check_times(walk.op_times());
    }
    return run.status();
  }

 private:
  void check_times(const std::vector<rc_plugin_op_time>& times) const {
    ASSERT_EQ(times.size(), steps_.size());
    for (size_t i = 0; i < times.size(); ++i) {
      EXPECT_EQ(times[i].op, static_cast<int32_t>(i));
      EXPECT_GT(times[i].begin_ns, 0);
      EXPECT_LE(times[i].begin_ns, times[i].end_ns);
      if (i > 0) {
        EXPECT_LE(times[i - 1].end_ns, times[i].begin_ns);
      }
    }
  }
  std::vector<std::unique_ptr<Step>> steps_;
};

// A chain of steps, each of which reads all of what the one before wrote.
TEST(Walk, StepsSeeTheResultsOfEarlierSteps) {
  constexpr int64_t kPieces = 37;
  for (int threads : {1, 2, 3, 8}) {
    Pool pool(threads);
    Steps steps;
    std::vector<int64_t> numbers[2] = {std::vector<int64_t>(kPieces),
                                       std::vector<int64_t>(kPieces)};
    for (int k = 0; k < 40; ++k) {
      const bool small = k % 5 == 3;
      steps.add(
          kPieces,
          [&numbers, k](cpu::Run&, const Share& share) {
            for (int64_t i = share.begin; i < share.end; ++i) {
              int64_t sum = k == 0 ? 1 : 0;
              for (int64_t x : numbers[k % 2]) sum += k == 0 ? 0 : x % 1009;
              share.commit([&] { numbers[(k + 1) % 2][i] = sum + i; });
            }
          },
          k % 3 == 1 && !small, small ? 10 : Steps::kCost);
    }
    EXPECT_EQ(steps.run(pool, 50), RC_OK);
    std::vector<int64_t> expected(kPieces), next(kPieces);
    for (int k = 0; k < 40; ++k) {
      for (int64_t i = 0; i < kPieces; ++i) {
        int64_t sum = k == 0 ? 1 : 0;
        for (int64_t x : expected) sum += k == 0 ? 0 : x % 1009;
        next[i] = sum + i;
      }
      expected.swap(next);
    }
    EXPECT_EQ(numbers[0], expected) << threads << " threads";
  }
}

// A helper stays within a unit, as if it had lost its processor, until the run
// is over: the run ends without it, and what it brings late is not taken.
TEST(Walk, UnitHeldByALateHelperIsComputedByAnother) {
  if (!Walk::repeats()) GTEST_SKIP() << "nothing is repeated in this build";
  Pool pool(2);
  std::atomic<bool> over{false};
  std::atomic<bool> held{false}, helped{false}, left{false};
  std::vector<int> results(16);
  {
    Steps steps;
    steps.add(
        16,
        [&](cpu::Run&, const Share& share) {
          if (share.thread == 1 && !held.exchange(true)) {
            EXPECT_TRUE(share.wanted());
            helped = true;  // from here on the caller may repeat the unit
            while (!over) std::this_thread::yield();
            EXPECT_FALSE(share.wanted());
            share.commit([&] { results[share.begin] = -1; });
            left = true;
            return;
          }
          // The caller's thread leaves something to the helper.
          while (!helped) std::this_thread::yield();
          for (int64_t i = share.begin; i < share.end; ++i) {
            share.commit([&] { ++results[i]; });
          }
        },
        true);
    std::atomic<int> after{0};
    steps.add(2, [&](cpu::Run&, const Share& share) {
      if (share.begin == 0) {
        EXPECT_FALSE(left);
        ++after;
      }
    });
    std::thread later([&] {
      // Only so that the walk, which waits for the helper as it goes, ends.
      while (after == 0) std::this_thread::yield();
      over = true;
    });
    EXPECT_EQ(steps.run(pool), RC_OK);
    later.join();
    EXPECT_EQ(after, 1);
  }
  EXPECT_TRUE(left) << "a walk goes only when everybody has left it";
  EXPECT_EQ(results, std::vector<int>(16, 1));
}

// The thread that did the last unit runs the following single-threaded steps.
TEST(Walk, HelperCanRunTheNextStep) {
  Pool pool(2);
  Steps steps;
  std::set<int> leaders;
  std::atomic<int> helped{0};
  for (int k = 0; k < 2; ++k) {
    steps.add(2, [&](cpu::Run&, const Share& share) {
      if (share.thread == 1) {
        // Last, most likely.
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        ++helped;
      } else {
        while (helped == 0) std::this_thread::yield();
      }
    });
  }
  steps.add(
      1, [&](cpu::Run&, const Share& share) { leaders.insert(share.thread); },
      false, 10);
  for (int i = 0; i < 10000 && leaders.count(1) == 0; ++i) {
    helped = 0;
    ASSERT_EQ(steps.run(pool), RC_OK);
  }
  EXPECT_EQ(leaders.count(1), 1u);
}

TEST(Walk, SmallWorkWakesNoThread) {
  Pool pool(4);
  while (!pool.all_asleep()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  Steps steps;
  std::set<int> threads;
  for (int k = 0; k < 10; ++k) {
    steps.add(
        8, [&](cpu::Run&, const Share& share) { threads.insert(share.thread); },
        false, 20000);
  }
  for (int i = 0; i < 100; ++i) ASSERT_EQ(steps.run(pool), RC_OK);
  EXPECT_EQ(threads, std::set<int>{0});
  EXPECT_TRUE(pool.all_asleep());
}

TEST(Walk, AFailureEndsTheRunAndTheNextOneWorks) {
  for (int threads : {1, 3}) {
    Pool pool(threads);
    Steps steps;
    std::atomic<bool> fail{true};
    std::atomic<int> after{0};
    steps.add(
        30,
        [&](cpu::Run& run, const Share& share) {
          share.commit([&] {
            if (fail && share.end > 20) run.fail(RC_E_DEVICE, "piece 20");
          });
        },
        true);
    steps.add(5, [&](cpu::Run&, const Share&) { ++after; });
    EXPECT_EQ(steps.run(pool), RC_E_DEVICE);
    EXPECT_EQ(after, 0);
    fail = false;
    EXPECT_EQ(steps.run(pool), RC_OK);
    EXPECT_GT(after, 0);
  }
}

TEST(Walk, ShouldStopIsCalledWhileAHelperWorks) {
  Pool pool(2);
  Steps steps;
  std::atomic<bool> asked{false};
  steps.add(2, [&](cpu::Run&, const Share& share) {
    if (share.thread != 1) return;
    while (!asked) std::this_thread::yield();
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(steps.run(pool, 1,
                        [&] {
                          asked = true;
                          return 0;
                        }),
              RC_OK);
  }
}

}  // namespace
}  // namespace rc::cpu
