// Lists of tokens and embedding rows.
#include "engine/items.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace rc::engine {
namespace {

using Tokens = std::vector<TokenId>;
using SharedRows = std::shared_ptr<const EmbeddingRows>;

// Rows of two numbers, of which the first are these.
SharedRows rows_of(const std::vector<float>& firsts) {
  std::vector<float> values;
  for (const float first : firsts) {
    values.push_back(first);
    values.push_back(0.5f);
  }
  return std::make_shared<const EmbeddingRows>(std::move(values), 2);
}

// A plain list with the same content: tokens, and 1000 more than the first
// number of a row.
Tokens spelled(const ItemSpan& span) {
  Tokens plain(span.tokens.begin(), span.tokens.end());
  for (const EmbeddingRun& run : span.runs) {
    for (int64_t i = 0; i < run.count; ++i) {
      const int64_t place = run.begin + i - span.begin;
      if (place < 0 || place >= span.size()) continue;
      TokenId& item = plain[static_cast<size_t>(place)];
      EXPECT_EQ(item, kNoToken);
      item = 1000 + static_cast<TokenId>(run.rows->row(run.first + i)[0]);
    }
  }
  return plain;
}

Items mixed() {
  Items items;
  items.append(Tokens{1, 2});
  items.append(rows_of({10, 11, 12}));
  items.append(TokenId{3});
  items.append(rows_of({13}));
  items.append(rows_of({14}));
  return items;
}

TEST(Items, HoldTokensAndRowsInOrder) {
  const Items items = mixed();
  EXPECT_EQ(items.size(), 8);
  EXPECT_EQ(spelled(items.all()),
            (Tokens{1, 2, 1010, 1011, 1012, 3, 1013, 1014}));
  EXPECT_EQ(spelled(items.subspan(3, 4)), (Tokens{1011, 1012, 3, 1013}));
  EXPECT_EQ(spelled(Items(items.subspan(3, 4)).all()),
            (Tokens{1011, 1012, 3, 1013}));
  EXPECT_TRUE(items.subspan(5, 1).runs.empty());
}

TEST(Items, AppendingNoRowsChangesNothing) {
  Items items = mixed();
  items.append(rows_of({}));
  EXPECT_EQ(items.size(), 8);
  EXPECT_EQ(items.runs().size(), 3u);
}

TEST(Items, CompareByTheirNumbers) {
  const Items items = mixed();
  // The same rows, from other tensors.
  Items same;
  same.append(Tokens{1, 2});
  same.append(rows_of({10}));
  same.append(rows_of({11, 12}));
  same.append(TokenId{3});
  same.append(rows_of({13, 14}));
  EXPECT_EQ(items.all(), same.all());
  EXPECT_EQ(items.all().hash(7), same.all().hash(7));
  EXPECT_NE(items.all().hash(7), items.all().hash(8));
  EXPECT_EQ(common_items(items, same), 8);

  Items other;
  other.append(Tokens{1, 2});
  other.append(rows_of({10, 11, 99}));
  other.append(TokenId{3});
  EXPECT_FALSE(items.subspan(0, 6) == other.subspan(0, 6));
  EXPECT_NE(items.subspan(0, 6).hash(7), other.subspan(0, 6).hash(7));
  EXPECT_TRUE(items.subspan(0, 4) == other.subspan(0, 4));
  EXPECT_EQ(common_items(items, other), 4);
  EXPECT_EQ(common_items(other, items), 4);
  // A row that comes from another place of its tensor.
  EXPECT_TRUE(items.subspan(4, 2) == Items(items.subspan(4, 2)).all());
  EXPECT_FALSE(items.subspan(2, 1) == items.subspan(3, 1));
}

// Against a plain list, whatever is cut where.
TEST(Items, EqualAPlainListAfterRandomEdits) {
  std::mt19937 random(3);
  const auto below = [&](int64_t limit) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
  };
  for (int round = 0; round < 300; ++round) {
    Items items;
    Tokens plain;
    for (int step = 0; step < 30; ++step) {
      const auto at = [&](int64_t i) {
        return plain.begin() + static_cast<ptrdiff_t>(i);
      };
      switch (below(5)) {
        case 0: {
          const Tokens tokens(static_cast<size_t>(below(4)),
                              static_cast<TokenId>(below(100)));
          items.append(tokens);
          plain.insert(plain.end(), tokens.begin(), tokens.end());
          break;
        }
        case 1:
        case 2: {
          std::vector<float> firsts;
          for (int64_t i = below(4); i > 0; --i) {
            firsts.push_back(static_cast<float>(below(100)));
            plain.push_back(1000 + static_cast<TokenId>(firsts.back()));
          }
          items.append(rows_of(firsts));
          break;
        }
        case 3: {
          const int64_t size = below(items.size() + 1);
          items.truncate(size);
          plain.resize(static_cast<size_t>(size));
          break;
        }
        default: {
          const int64_t begin = below(items.size() + 1);
          const int64_t count = below(items.size() - begin + 1);
          items.erase(begin, count);
          plain.erase(at(begin), at(begin + count));
          break;
        }
      }
      ASSERT_EQ(spelled(items.all()), plain);
    }
    const int64_t begin = below(items.size() + 1);
    const int64_t count = below(items.size() - begin + 1);
    const Items part(items.subspan(begin, count));
    ASSERT_EQ(spelled(part.all()),
              Tokens(plain.begin() + static_cast<ptrdiff_t>(begin),
                     plain.begin() + static_cast<ptrdiff_t>(begin + count)));
    ASSERT_TRUE(part.all() == items.subspan(begin, count));
    ASSERT_EQ(part.all().hash(1), items.subspan(begin, count).hash(1));
  }
}

}  // namespace
}  // namespace rc::engine
