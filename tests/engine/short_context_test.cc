// Sessions rotate by how many tokens they have, where a model has frequencies
// for short and for long ones: whatever they were before, and whatever others
// are.
#include <gtest/gtest.h>

#include "session_util.h"

namespace rc::engine::test {
namespace {

// The length of the model's short context.
constexpr size_t kShort = 1024;

// Loads with the same options share the engine, and its prefix cache.
std::shared_ptr<Engine> load_long(int64_t context = 2048,
                                  bool prefix_cache = true) {
  EngineOptions options;
  options.prefix_cache = prefix_cache;
  options.context_length = context;
  options.cache_tokens = 8 * 2048;
  return load(options, "cpu", 1, "phi3-short");
}

uint64_t hash_within(const std::vector<TokenId>& tokens,
                     int64_t context = 2048) {
  const auto engine = load_long(context, false);
  return hash_after(*engine->create_session({}, nullptr), tokens);
}

TEST(ShortContext, AppliesToShortSessionsOfALongContext) {
  const std::vector<TokenId> tokens = some_tokens(kShort + 1);
  const std::vector<TokenId> whole = part(tokens, 0, kShort);
  EXPECT_EQ(hash_within(whole), hash_within(whole, kShort));
  // With one token more all of them rotate otherwise.
  const auto engine = load_long();
  const auto all = engine->create_session({}, nullptr);
  all->append(tokens);
  all->decode(true);
  const Session::Logits longer = all->logits();
  const auto shorter = engine->create_session({}, nullptr);
  shorter->append(part(tokens, 0, 2));
  shorter->decode(true);
  const Session::Logits few = shorter->logits();
  // The first position does not rotate.
  EXPECT_TRUE(std::equal(few.data, few.data + few.vocabulary, longer.data));
  EXPECT_FALSE(std::equal(few.data + few.vocabulary,
                          few.data + 2 * few.vocabulary,
                          longer.data + longer.vocabulary));
}

TEST(ShortContext, IsLeftAndEnteredAgain) {
  const auto engine = load_long();
  const std::vector<TokenId> tokens = some_tokens(kShort + 40);
  const uint64_t before = hash_within(part(tokens, 0, kShort));
  const uint64_t behind = hash_within(tokens);
  const auto session = engine->create_session({}, nullptr);
  hash_after(*session, part(tokens, 0, 1000));
  EXPECT_EQ(hash_after(*session, part(tokens, 1000, kShort)), before);
  const auto fork = session->fork();
  EXPECT_EQ(hash_after(*session, part(tokens, kShort, kShort + 40)), behind);
  session->truncate(1000);
  // Evaluated pages of the other form are not saved.
  const std::vector<std::byte> bytes = session->save();
  const auto restored = engine->restore_session(
      *gguf::File::from_memory(nullptr, bytes, "saved"), {}, nullptr);
  for (Session* one : {session.get(), restored.get()}) {
    EXPECT_EQ(hash_after(*one, part(tokens, 1000, kShort)), before);
  }
  EXPECT_EQ(hash_after(*fork, part(tokens, kShort, kShort + 40)), behind);
}

// A restored session goes on with what it brought, on either side.
TEST(ShortContext, IsKeptInSavedSessions) {
  const auto engine = load_long();
  const std::vector<TokenId> tokens = some_tokens(kShort + 40);
  for (const size_t count : {size_t{1000}, kShort + 20}) {
    const auto session = engine->create_session({}, nullptr);
    hash_after(*session, part(tokens, 0, count));
    const std::vector<std::byte> bytes = session->save();
    const auto restored = engine->restore_session(
        *gguf::File::from_memory(nullptr, bytes, "saved"), {}, nullptr);
    const std::vector<TokenId> next = part(tokens, count, count + 5);
    EXPECT_EQ(hash_after(*restored, next),
              hash_within(part(tokens, 0, count + 5)));
  }
}

TEST(ShortContext, IsLeftWhileGenerating) {
  const auto engine = load_long();
  const std::vector<TokenId> tokens = some_tokens(kShort - 10);
  const auto session = engine->create_session({}, nullptr);
  const Result result = generate(*session, greedy(tokens, 20));
  ASSERT_EQ(result.tokens.size(), 20u) << result.message;
  // Some of them, each by itself.
  for (const ptrdiff_t i : {0, 9, 10, 11, 19}) {
    std::vector<TokenId> prompt = tokens;
    prompt.insert(prompt.end(), result.tokens.begin(),
                  result.tokens.begin() + i);
    EXPECT_EQ(generate(*load_long(2048, false), greedy(prompt, 1)).tokens[0],
              result.tokens[static_cast<size_t>(i)])
        << i;
  }
}

// Pages of sessions on one side are of no use to those on the other.
TEST(ShortContext, SeparatesPrefixesInTheCache) {
  const auto engine = load_long();
  const std::vector<TokenId> tokens = some_tokens(kShort + 40);
  const std::vector<TokenId> first = part(tokens, 0, 1000);
  const uint64_t expected = hash_within(tokens);
  EXPECT_EQ(generate(*engine, greedy(first, 1)).report.cached_tokens, 0);
  EXPECT_EQ(generate(*engine, greedy(first, 1)).report.cached_tokens, 992);
  EXPECT_EQ(generate(*engine, greedy(tokens, 1)).report.cached_tokens, 0);
  EXPECT_EQ(generate(*engine, greedy(tokens, 1)).report.cached_tokens, 1056);
  EXPECT_EQ(generate(*engine, greedy(first, 1)).report.cached_tokens, 992);
  EXPECT_EQ(hash_after(*engine->create_session({}, nullptr), tokens), expected);
}

}  // namespace
}  // namespace rc::engine::test
