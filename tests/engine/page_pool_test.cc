#include "engine/page_pool.h"

#include <gtest/gtest.h>

namespace rc::engine {
namespace {

TEST(PagePool, HandsOutEachPageOnce) {
  PagePool pool(3);
  EXPECT_EQ(pool.allocate(), 0);
  EXPECT_EQ(pool.allocate(), 1);
  EXPECT_EQ(pool.allocate(), 2);
  EXPECT_EQ(pool.allocate(), kNoPage);
  EXPECT_EQ(pool.free(), 0);
  pool.release(1);
  EXPECT_EQ(pool.free(), 1);
  EXPECT_EQ(pool.allocate(), 1);
}

TEST(PagePool, FreesWithTheLastReference) {
  PagePool pool(1);
  const PageId page = pool.allocate();
  pool.retain(page);
  EXPECT_EQ(pool.references(page), 2);
  pool.release(page);
  EXPECT_EQ(pool.free(), 0);
  pool.release(page);
  EXPECT_EQ(pool.free(), 1);
}

}  // namespace
}  // namespace rc::engine
