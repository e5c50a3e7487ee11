#include "engine/prefix_cache.h"

#include <gtest/gtest.h>

#include <vector>

namespace rc::engine {
namespace {

using Tokens = std::vector<TokenId>;

TEST(PrefixCache, FindsAPageOnlyAfterItsOwnParent) {
  PagePool pool(8);
  PagePool slots(4), windows(4);
  PrefixCache cache(pool, windows, slots);
  const Tokens a = {1, 2}, b = {3, 4}, c = {5, 6};
  const auto* first = cache.insert(nullptr, a, pool.allocate());
  const auto* other = cache.insert(nullptr, b, pool.allocate());
  const auto* second = cache.insert(first, c, pool.allocate());
  EXPECT_EQ(cache.find(nullptr, a), first);
  EXPECT_EQ(cache.find(first, c), second);
  EXPECT_EQ(cache.find(nullptr, c), nullptr);
  EXPECT_EQ(cache.find(other, c), nullptr);
  EXPECT_EQ(cache.find(first, Tokens({5, 7})), nullptr);
}

TEST(PrefixCache, KeepsLongerSessionsApart) {
  PagePool pool(2);
  PagePool slots(4), windows(4);
  PrefixCache cache(pool, windows, slots);
  const Tokens a = {1, 2};
  const auto* usual = cache.insert(cache.root(false), a, pool.allocate());
  EXPECT_EQ(cache.find(cache.root(true), a), nullptr);
  const auto* longer = cache.insert(cache.root(true), a, pool.allocate());
  EXPECT_NE(usual, longer);
  EXPECT_EQ(cache.find(cache.root(true), a), longer);
  EXPECT_EQ(cache.find(cache.root(false), a), usual);
}

TEST(PrefixCache, KeepsTheFirstPageOfEqualOnes) {
  PagePool pool(2);
  PagePool slots(4), windows(4);
  PrefixCache cache(pool, windows, slots);
  const Tokens a = {1, 2};
  const PageId first = pool.allocate();
  const PageId second = pool.allocate();
  const auto* entry = cache.insert(nullptr, a, first);
  EXPECT_EQ(cache.insert(nullptr, a, second), entry);
  EXPECT_EQ(entry->page, first);
  EXPECT_EQ(pool.references(first), 2);
  EXPECT_EQ(pool.references(second), 1);
}

TEST(PrefixCache, EvictsTheLeastRecentlyUsedLeafWithoutHolders) {
  PagePool pool(4);
  PagePool slots(4), windows(4);
  PrefixCache cache(pool, windows, slots);
  const Tokens a = {1}, b = {2}, c = {3}, d = {4};
  const PageId pages[] = {pool.allocate(), pool.allocate(), pool.allocate(),
                          pool.allocate()};
  const auto* root = cache.insert(nullptr, a, pages[0]);
  cache.insert(root, b, pages[1]);
  cache.insert(nullptr, c, pages[2]);
  cache.insert(nullptr, d, pages[3]);
  for (PageId page : {pages[0], pages[1], pages[3]}) pool.release(page);
  cache.find(root, b);  // now the most recently used

  // c is held by a session, a has a child: d goes first.
  EXPECT_TRUE(cache.evict());
  EXPECT_EQ(cache.find(nullptr, d), nullptr);
  EXPECT_TRUE(cache.evict());
  EXPECT_EQ(cache.find(root, b), nullptr);
  EXPECT_TRUE(cache.evict());
  EXPECT_EQ(cache.find(nullptr, a), nullptr);
  EXPECT_FALSE(cache.evict());
  EXPECT_NE(cache.find(nullptr, c), nullptr);
  EXPECT_EQ(pool.free(), 3);
}

TEST(PrefixCache, GivesEverythingBackAtTheEnd) {
  PagePool pool(2);
  {
    PagePool slots(4), windows(4);
    PrefixCache cache(pool, windows, slots);
    const PageId page = pool.allocate();
    cache.insert(nullptr, Tokens({1}), page);
    pool.release(page);
    EXPECT_EQ(pool.free(), 1);
  }
  EXPECT_EQ(pool.free(), 2);
}

}  // namespace
}  // namespace rc::engine
