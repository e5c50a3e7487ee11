// Tiles, and the threads that share them out.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/library.h"
#include "blas/team.h"
#include "blas/tiling.h"

namespace rc::test {
namespace {

TEST(BlasTeam, RunsEveryTaskOnce) {
  const blas::Cblas library(rc::Library::load(RC_CBLAS_PLAIN), "plain");
  for (const int threads : {1, 2, 5}) {
    blas::Team team(threads, library);
    for (const int64_t tasks : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> done(static_cast<size_t>(tasks));
      std::atomic<bool> odd = false;
      blas::run_tasks(team, tasks, [&](int thread, int64_t task) {
        if (thread < 0 || thread >= threads) odd = true;
        ++done[static_cast<size_t>(task)];
      });
      EXPECT_FALSE(odd);
      EXPECT_TRUE(std::all_of(done.begin(), done.end(),
                              [](const auto& count) { return count == 1; }))
          << threads << " threads, " << tasks << " tasks";
    }
  }
}

TEST(BlasTiling, TilesCoverTheResultWithinTheirLimits) {
  const int64_t sizes[] = {1, 3, 16, 100, 255, 256, 257, 1000, 4097};
  for (const int64_t m : sizes) {
    for (const int64_t n : sizes) {
      for (const int64_t k : sizes) {
        for (const bool panels : {false, true}) {
          const int64_t most = panels ? blas::panel_columns(n, k) : 0;
          const blas::Tiling t = blas::tiling_of(3, m, n, k, most);
          ASSERT_GE(t.rows * t.tiles_down, m);
          ASSERT_LT(t.rows * (t.tiles_down - 1), m);
          ASSERT_GE(t.columns * t.tiles_across, n);
          ASSERT_LT(t.columns * (t.tiles_across - 1), n);
          const int64_t tiles = 3 * t.tiles_down * t.tiles_across;
          ASSERT_GE(t.tasks * t.batch, tiles);
          ASSERT_LT((t.tasks - 1) * t.batch, tiles);
          ASSERT_LE(t.depth, k);
          if (!panels) continue;
          ASSERT_LE(t.columns * t.depth, blas::panel_elements(n, k));
        }
      }
    }
  }
}

TEST(BlasTiling, OnlyLargeProductsAreDivided) {
  EXPECT_EQ(blas::tiling_of(1, 64, 64, 64, 0).tasks, 1);
  EXPECT_EQ(blas::tiling_of(10, 16, 16, 16, 0).tasks, 1);
  EXPECT_GE(blas::tiling_of(1, 1024, 1024, 1024, 0).tasks, 16);
  EXPECT_GE(blas::tiling_of(1, 1, 4096, 4096, 0).tasks, 2);
}

}  // namespace
}  // namespace rc::test
