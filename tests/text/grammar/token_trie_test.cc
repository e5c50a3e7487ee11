#include "text/grammar/token_trie.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace rc::text::grammar {
namespace {

// The tokens at and below a node.
std::vector<int32_t> tokens_below(const TokenTrie& trie, size_t node) {
  std::vector<int32_t> tokens;
  for (size_t i = node; i < trie.nodes()[node].end; ++i) {
    trie.for_each(trie.nodes()[i],
                  [&](int32_t token) { tokens.push_back(token); });
  }
  std::sort(tokens.begin(), tokens.end());
  return tokens;
}

TEST(TokenTries, FindEveryPrefix) {
  const std::vector<std::string> texts = {"aab", "aac", "ab",   "abc", "b",
                                          "bb",  "aab", "\xFF", ""};
  std::vector<TokenTrie::Entry> entries;
  for (size_t i = 0; i < texts.size(); ++i) {
    entries.emplace_back(texts[i], static_cast<int32_t>(i));
  }
  const TokenTrie trie(entries);
  EXPECT_EQ(trie.max_depth(), 3u);
  std::set<std::string> beginnings;
  for (const std::string& text : texts) {
    for (size_t size = 1; size <= text.size(); ++size) {
      beginnings.insert(text.substr(0, size));
    }
  }
  EXPECT_EQ(trie.nodes().size(), beginnings.size());
  for (const std::string& beginning : beginnings) {
    const size_t node = trie.find(beginning);
    ASSERT_LT(node, trie.nodes().size()) << beginning;
    EXPECT_EQ(trie.nodes()[node].depth, beginning.size());
    std::vector<int32_t> expected;
    for (size_t i = 0; i < texts.size(); ++i) {
      if (texts[i].starts_with(beginning)) {
        expected.push_back(static_cast<int32_t>(i));
      }
    }
    EXPECT_EQ(tokens_below(trie, node), expected) << beginning;
  }
  for (const char* other :
       {"", "c", "aa ", "aaa", "ac", "ba", "bbb", "aabb", "\xFF\xFF", "\x01"}) {
    EXPECT_EQ(trie.find(other), trie.nodes().size()) << other;
  }
}

TEST(TokenTries, MayBeEmpty) {
  const TokenTrie none(std::vector<TokenTrie::Entry>{});
  EXPECT_TRUE(none.nodes().empty());
  EXPECT_EQ(none.max_depth(), 0u);
  EXPECT_EQ(none.find("a"), 0u);
}

}  // namespace
}  // namespace rc::text::grammar
