#include "engine/prefix_cache.h"

#include <gtest/gtest.h>

#include <vector>

namespace rc::engine {
namespace {

using Tokens = std::vector<TokenId>;

ItemSpan of(const Tokens& tokens) { return {tokens, {}, 0}; }
PrefixCache::Place after(const PrefixCache::Entry* parent) {
  return {{}, parent};
}

TEST(PrefixCache, FindsAPageOnlyAfterItsOwnParent) {
  PagePool pool(8);
  PagePool slots(4), windows(4);
  PrefixCache cache(pool, windows, slots);
  const Tokens a = {1, 2}, b = {3, 4}, c = {5, 6};
  const auto* first = cache.insert({}, of(a), pool.allocate());
  const auto* other = cache.insert({}, of(b), pool.allocate());
  const auto* second = cache.insert(after(first), of(c), pool.allocate());
  EXPECT_EQ(cache.find({}, of(a)), first);
  EXPECT_EQ(cache.find(after(first), of(c)), second);
  EXPECT_EQ(cache.find({}, of(c)), nullptr);
  EXPECT_EQ(cache.find(after(other), of(c)), nullptr);
  EXPECT_EQ(cache.find(after(first), of(Tokens({5, 7}))), nullptr);
}

TEST(PrefixCache, SeparatesShortAndLongContextForms) {
  PagePool pool(2);
  PagePool slots(4), windows(4);
  PrefixCache cache(pool, windows, slots);
  const Tokens a = {1, 2};
  constexpr PrefixCache::Place kLonger = {.variant = {.longer = true}};
  const auto* usual = cache.insert({}, of(a), pool.allocate());
  EXPECT_EQ(cache.find(kLonger, of(a)), nullptr);
  const auto* longer = cache.insert(kLonger, of(a), pool.allocate());
  EXPECT_NE(usual, longer);
  EXPECT_EQ(cache.find(kLonger, of(a)), longer);
  EXPECT_EQ(cache.find({}, of(a)), usual);
}

TEST(PrefixCache, KeepsTheFirstOfEqualPages) {
  PagePool pool(2);
  PagePool slots(4), windows(4);
  PrefixCache cache(pool, windows, slots);
  const Tokens a = {1, 2};
  const PageId first = pool.allocate();
  const PageId second = pool.allocate();
  const auto* entry = cache.insert({}, of(a), first);
  EXPECT_EQ(cache.insert({}, of(a), second), entry);
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
  const auto* root = cache.insert({}, of(a), pages[0]);
  cache.insert(after(root), of(b), pages[1]);
  cache.insert({}, of(c), pages[2]);
  cache.insert({}, of(d), pages[3]);
  for (PageId page : {pages[0], pages[1], pages[3]}) pool.release(page);
  cache.find(after(root), of(b));  // now the most recently used

  // c is held by a session, a has a child: d goes first.
  EXPECT_TRUE(cache.evict());
  EXPECT_EQ(cache.find({}, of(d)), nullptr);
  EXPECT_TRUE(cache.evict());
  EXPECT_EQ(cache.find(after(root), of(b)), nullptr);
  EXPECT_TRUE(cache.evict());
  EXPECT_EQ(cache.find({}, of(a)), nullptr);
  EXPECT_FALSE(cache.evict());
  EXPECT_NE(cache.find({}, of(c)), nullptr);
  EXPECT_EQ(pool.free(), 3);
}

TEST(PrefixCache, ReleasesEveryPageAtTheEnd) {
  PagePool pool(2);
  {
    PagePool slots(4), windows(4);
    PrefixCache cache(pool, windows, slots);
    const PageId page = pool.allocate();
    cache.insert({}, of(Tokens({1})), page);
    pool.release(page);
    EXPECT_EQ(pool.free(), 1);
  }
  EXPECT_EQ(pool.free(), 2);
}

}  // namespace
}  // namespace rc::engine
