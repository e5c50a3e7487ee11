// Sessions of models that have layers with a window: what no row sees any more
// is given back, and everything is as if it were not.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "base/error.h"
#include "files/gguf/writer.h"
#include "session_util.h"

namespace rc::engine::test {
namespace {

// The windows of these models are 10 to 12 positions, pages 32: a session has
// up to five pages of windows and a copy.
EngineOptions window_options(bool apart, bool prefix_cache = false) {
  EngineOptions options;
  options.context_length = 1024;
  options.max_rows = 8;
  // A cache that is no larger than the windows of 16 jobs has none for them.
  options.cache_tokens = apart ? 256 * 32 : 100 * 32;
  options.prefix_cache = prefix_cache;
  return options;
}

class Windows : public ::testing::TestWithParam<const char*> {
 protected:
  std::shared_ptr<Engine> load_windows(bool apart, bool prefix_cache = false) {
    return load(window_options(apart, prefix_cache), "cpu", 1, GetParam());
  }
  uint64_t hash_alone(const std::vector<TokenId>& tokens) {
    const auto session = load_windows(false)->create_session({}, nullptr);
    session->append(tokens);
    session->decode(false);
    return hash_logits(*session);
  }
};

INSTANTIATE_TEST_SUITE_P(Models, Windows,
                         ::testing::Values("mistral", "gemma2", "gemma3",
                                           "cohere2", "gemma4"),
                         [](const auto& info) { return info.param; });

TEST_P(Windows, TakeNoMoreMemoryForALongContext) {
  const auto file = small_model(GetParam());
  const auto device = open_device();
  EngineOptions options = window_options(true);
  const uint64_t before = plan(*file, device, options).memory.cache;
  options.context_length *= 64;
  options.cache_tokens *= 64;
  const uint64_t after = plan(*file, device, options).memory.cache;
  // Elements of a position; layers may share what others store.
  uint64_t windowed = 0;
  uint64_t layers = 0;
  for (const model::Layer& layer : file->hyper_parameters().layers) {
    if (!layer.has_cache()) continue;
    const auto elements =
        static_cast<uint64_t>(layer.kv_heads * layer.key_size);
    layers += elements;
    if (layer.window > 0) windowed += elements;
  }
  ASSERT_GT(windowed, 0u);
  // Per layer: 256 pages each, or 16 windows of 7 pages and a step of 1.
  EXPECT_EQ(before % (113 * windowed + 256 * (layers - windowed)), 0u);
  const uint64_t page = before / (113 * windowed + 256 * (layers - windowed));
  EXPECT_EQ(after, page * (113 * windowed + 64 * 256 * (layers - windowed)));
  EXPECT_EQ(plan(*file, device, window_options(false)).memory.cache,
            page * 100 * layers);
}

TEST_P(Windows, AreEnoughForALongSession) {
  const std::vector<TokenId> tokens = some_tokens(600);
  const auto session = load_windows(true)->create_session({}, nullptr);
  EXPECT_EQ(hash_after(*session, tokens), hash_alone(tokens));
  const auto other = load_windows(false)->create_session({}, nullptr);
  hash_after(*other, tokens);
  EXPECT_EQ(generate(*session, greedy({}, 200)).tokens,
            generate(*other, greedy({}, 200)).tokens);
  EXPECT_EQ(hash_after(*session, {7, 8, 9}), hash_after(*other, {7, 8, 9}));
}

TEST_P(Windows, CanBeTruncatedToAnyPosition) {
  const std::vector<TokenId> tokens = some_tokens(150);
  const uint64_t expected = hash_alone(tokens);
  for (const bool prefix_cache : {false, true}) {
    const auto engine = load_windows(true, prefix_cache);
    const auto session = engine->create_session({}, nullptr);
    EXPECT_EQ(hash_after(*session, tokens), expected);
    for (const size_t position : {149, 130, 128, 127, 70, 64, 3, 0}) {
      EXPECT_EQ(generate(*session, greedy({}, 40)).report.status, RC_OK);
      session->truncate(static_cast<int64_t>(position));
      EXPECT_EQ(hash_after(*session, part(tokens, position, 150)), expected)
          << position;
    }
  }
}

TEST_P(Windows, AreSharedByForks) {
  const auto engine = load_windows(true);
  const std::vector<TokenId> tokens = some_tokens(90);
  const auto session = engine->create_session({}, nullptr);
  hash_after(*session, tokens);
  const auto fork = session->fork();
  const std::vector<TokenId> other = some_tokens(140, 7);
  std::vector<TokenId> all = tokens;
  all.insert(all.end(), other.begin(), other.end());
  EXPECT_EQ(hash_after(*fork, other), hash_alone(all));
  const Result from_first = generate(*session, greedy({}, 80));
  const auto fresh = load_windows(false)->create_session({}, nullptr);
  EXPECT_EQ(generate(*fresh, greedy(tokens, 80)).tokens, from_first.tokens);
}

TEST_P(Windows, ContinueFromACachedPrefix) {
  const auto engine = load_windows(true, true);
  const std::vector<TokenId> tokens = some_tokens(150);
  EXPECT_EQ(generate(*engine, greedy(tokens, 3)).report.cached_tokens, 0);
  EXPECT_EQ(generate(*engine, greedy(tokens, 3)).report.cached_tokens, 128);
  std::vector<TokenId> other = part(tokens, 0, 100);
  const std::vector<TokenId> end = some_tokens(60, 9);
  other.insert(other.end(), end.begin(), end.end());
  const Result result = generate(*engine, greedy(other, 40));
  EXPECT_EQ(result.report.cached_tokens, 96);
  EXPECT_EQ(generate(*load_windows(false), greedy(other, 40)).tokens,
            result.tokens);
}

// The prefix cache keeps windows as long as no session needs their pages;
// without them its other pages cannot be used.
TEST_P(Windows, OfThePrefixCacheAreEvictedForOthers) {
  const auto engine = load_windows(true, true);
  const std::vector<TokenId> tokens = some_tokens(150);
  const std::vector<TokenId> expected =
      generate(*engine, greedy(tokens, 20)).tokens;
  // 113 pages in all.
  for (uint32_t i = 0; i < 5; ++i) {
    generate(*engine, greedy(some_tokens(800, 20 + i), 3));
  }
  const Result again = generate(*engine, greedy(tokens, 20));
  EXPECT_EQ(again.report.cached_tokens, 0);
  EXPECT_EQ(again.tokens, expected);
}

TEST_P(Windows, AreSavedAndRestored) {
  const std::vector<TokenId> tokens = some_tokens(300);
  const std::vector<TokenId> more = some_tokens(50, 3);
  std::vector<TokenId> all = tokens;
  all.insert(all.end(), more.begin(), more.end());
  const uint64_t expected = hash_alone(all);
  std::vector<size_t> sizes;
  for (const bool from : {false, true}) {
    for (const bool to : {false, true}) {
      const auto session = load_windows(from)->create_session({}, nullptr);
      hash_after(*session, tokens);
      const std::vector<std::byte> bytes = session->save();
      sizes.push_back(bytes.size());
      const auto file = gguf::File::from_memory(nullptr, bytes, "saved");
      const auto restored =
          load_windows(to)->restore_session(*file, SessionOptions(), nullptr);
      EXPECT_EQ(hash_after(*restored, more), expected) << from << to;
      restored->truncate(300);
      EXPECT_EQ(hash_after(*restored, more), expected) << from << to;
      restored->truncate(290);
      EXPECT_EQ(hash_after(*restored, part(all, 290, 350)), expected);
      restored->truncate(100);
      EXPECT_EQ(hash_after(*restored, part(all, 100, 350)), expected);
    }
  }
  EXPECT_LT(sizes[2], sizes[0]);
}

TEST_P(Windows, MissingFromASavedSessionAreRefused) {
  const auto engine = load_windows(true);
  const auto session = engine->create_session({}, nullptr);
  // Windows from position 128 on, or from 160 on if they are shorter.
  hash_after(*session, some_tokens(200));
  const std::vector<std::byte> bytes = session->save();
  const std::string key = "window_begin";
  const auto at = static_cast<size_t>(
      std::search(
          bytes.begin(), bytes.end(), key.begin(), key.end(),
          [](std::byte a, char b) { return a == static_cast<std::byte>(b); }) -
      bytes.begin());
  ASSERT_LT(at, bytes.size());
  // Behind the key its type, then 8 bytes.
  const size_t value = at + key.size() + 4;
  ASSERT_TRUE(bytes[value] == std::byte{128} || bytes[value] == std::byte{160});
  struct Change {
    size_t at;
    int byte;
  };
  for (const auto [byte, change] : {Change{0, 0}, Change{0, 96}, Change{1, 1},
                                    Change{1, 0x80}, Change{7, 0xff}}) {
    std::vector<std::byte> damaged = bytes;
    damaged[value + byte] = static_cast<std::byte>(change);
    correct_checksum(&damaged);
    const auto file = gguf::File::from_memory(nullptr, damaged, "saved");
    try {
      engine->restore_session(*file, SessionOptions(), nullptr);
      ADD_FAILURE() << change;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_FORMAT) << error.what();
    }
  }
}

// More jobs than there are windows for: the others wait, and lose what they
// have when there is no more.
TEST_P(Windows, AreTakenFromJobsThatWait) {
  for (const bool prefix_cache : {false, true}) {
    EngineOptions options = window_options(true, prefix_cache);
    options.cache_tokens = 40 * 400;
    const auto engine = load(options, "cpu", 1, GetParam());
    const std::vector<TokenId> prompt = some_tokens(120);
    const std::vector<TokenId> expected =
        generate(*load_windows(false), greedy(prompt, 60)).tokens;
    std::vector<std::vector<TokenId>> generated(40);
    std::vector<std::thread> threads;
    for (std::vector<TokenId>& one : generated) {
      threads.emplace_back(
          [&] { one = generate(*engine, greedy(prompt, 60)).tokens; });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::vector<TokenId>& one : generated) EXPECT_EQ(one, expected);
  }
}

TEST_P(Windows, AreTakenFromIdleSessions) {
  const auto engine = load_windows(true);
  const std::vector<TokenId> tokens = some_tokens(70);
  const std::vector<TokenId> more = some_tokens(5, 3);
  std::vector<TokenId> all = tokens;
  all.insert(all.end(), more.begin(), more.end());
  const uint64_t expected = hash_alone(all);
  std::vector<std::shared_ptr<Session>> sessions;
  for (int i = 0; i < 60; ++i) {
    sessions.push_back(engine->create_session({}, nullptr));
    hash_after(*sessions.back(), tokens);
  }
  for (const auto& session : sessions) {
    ASSERT_EQ(hash_after(*session, more), expected);
  }
}

}  // namespace
}  // namespace rc::engine::test
