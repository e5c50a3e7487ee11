// Sessions of a model whose layers keep states of fixed size: going back,
// going on from what others computed, and saving.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <thread>

#include "base/error.h"
#include "engine_util.h"
#include "session_util.h"

namespace rc::engine::test {
namespace {

constexpr char kModel[] = "granitehybrid";

EngineOptions state_options(int64_t rows, bool prefix_cache) {
  EngineOptions options = small_options();
  options.max_rows = rows;
  options.prefix_cache = prefix_cache;
  return options;
}

std::shared_ptr<Engine> load_states(int64_t rows = 64,
                                    bool prefix_cache = false,
                                    const char* model = kModel) {
  return load(state_options(rows, prefix_cache), "cpu", 1, model);
}

uint64_t hash_alone(const std::vector<TokenId>& tokens,
                    const char* model = kModel) {
  const auto session =
      load_states(64, false, model)->create_session({}, nullptr);
  return hash_after(*session, tokens);
}

TEST(States, CanBeTruncatedToAnyPosition) {
  const auto engine = load_states();
  const std::vector<TokenId> tokens = some_tokens(150);
  const uint64_t expected = hash_alone(tokens);
  const auto session = engine->create_session({}, nullptr);
  EXPECT_EQ(hash_after(*session, tokens), expected);
  for (const size_t position : {149, 130, 128, 127, 70, 64, 3, 0}) {
    EXPECT_EQ(generate(*session, greedy({}, 5)).report.status, RC_OK);
    session->truncate(static_cast<int64_t>(position));
    EXPECT_EQ(hash_after(*session, part(tokens, position, 150)), expected)
        << position;
  }
}

TEST(States, AreSharedByForks) {
  const auto engine = load_states();
  const std::vector<TokenId> tokens = some_tokens(90);
  const auto session = engine->create_session({}, nullptr);
  hash_after(*session, tokens);
  const auto fork = session->fork();
  const std::vector<TokenId> other = some_tokens(40, 7);
  std::vector<TokenId> all = tokens;
  all.insert(all.end(), other.begin(), other.end());
  EXPECT_EQ(hash_after(*fork, other), hash_alone(all));
  const Result from_first = generate(*session, greedy({}, 20));
  const auto fresh = engine->create_session({}, nullptr);
  EXPECT_EQ(generate(*fresh, greedy(tokens, 20)).tokens, from_first.tokens);
}

// States are kept at the ends of pages where a step has ended, and at the last
// one before the end of a prompt.
TEST(States, ContinueFromACachedPrefix) {
  const auto engine = load_states(64, true);
  const std::vector<TokenId> tokens = some_tokens(150);
  EXPECT_EQ(generate(*engine, greedy(tokens, 3)).report.cached_tokens, 0);
  EXPECT_EQ(generate(*engine, greedy(tokens, 3)).report.cached_tokens, 128);
  std::vector<TokenId> other = part(tokens, 0, 120);
  const std::vector<TokenId> end = some_tokens(30, 9);
  other.insert(other.end(), end.begin(), end.end());
  const Result result = generate(*engine, greedy(other, 20));
  // The chunks of the first prompt depend on the duration of steps.
  EXPECT_GE(result.report.cached_tokens, 32);
  EXPECT_LE(result.report.cached_tokens, 96);
  EXPECT_EQ(generate(*load_states(), greedy(other, 20)).tokens, result.tokens);
}

// Four slots: each session loses its state to the next.
TEST(States, AreTakenFromIdleSessions) {
  const auto engine = load_states(1);
  const std::vector<TokenId> tokens = some_tokens(30);
  std::vector<std::shared_ptr<Session>> sessions;
  for (int i = 0; i < 6; ++i) {
    sessions.push_back(engine->create_session({}, nullptr));
    hash_after(*sessions.back(), tokens);
  }
  const std::vector<TokenId> more = some_tokens(5, 3);
  std::vector<TokenId> all = tokens;
  all.insert(all.end(), more.begin(), more.end());
  const uint64_t expected = hash_alone(all);
  for (const auto& session : sessions) {
    EXPECT_EQ(hash_after(*session, more), expected);
  }
}

// Two rows to a step mean eight slots, which ten jobs take from each other.
TEST(States, AreTakenFromJobsThatWait) {
  const auto engine = load_states(2, true);
  const std::vector<TokenId> prompt = some_tokens(150);
  const std::vector<TokenId> expected =
      generate(*load_states(), greedy(prompt, 20)).tokens;
  std::vector<std::vector<TokenId>> generated(10);
  std::vector<std::thread> threads;
  for (std::vector<TokenId>& one : generated) {
    threads.emplace_back(
        [&] { one = generate(*engine, greedy(prompt, 20)).tokens; });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<TokenId>& one : generated) EXPECT_EQ(one, expected);
}

// One of each kind: convolutions alone, states of channels, Mamba 2 with
// attention, the delta rule, and states that fade by the column.
class KindsOfStates : public ::testing::TestWithParam<const char*> {};

TEST_P(KindsOfStates, CanBeTruncatedForkedAndSaved) {
  const auto engine = load_states(16, false, GetParam());
  const std::vector<TokenId> tokens = some_tokens(90);
  const std::vector<TokenId> other = some_tokens(20, 7);
  std::vector<TokenId> all = tokens;
  all.insert(all.end(), other.begin(), other.end());
  const uint64_t expected = hash_alone(all, GetParam());
  const auto session = engine->create_session({}, nullptr);
  EXPECT_EQ(hash_after(*session, tokens), hash_alone(tokens, GetParam()));
  const auto fork = session->fork();
  const std::vector<std::byte> saved = session->save();
  EXPECT_EQ(hash_after(*fork, other), expected);
  EXPECT_EQ(hash_after(*session, other), expected);
  session->truncate(70);
  EXPECT_EQ(hash_after(*session, part(all, 70, 110)), expected);
  const auto file = gguf::File::from_memory(nullptr, saved, "saved");
  const auto elsewhere = load_states(64, false, GetParam());
  const auto restored =
      elsewhere->restore_session(*file, SessionOptions(), nullptr);
  EXPECT_EQ(hash_after(*restored, other), expected);
}

INSTANTIATE_TEST_SUITE_P(States, KindsOfStates,
                         ::testing::Values("lfm2", "mamba", "falcon-h1",
                                           "qwen3next", "rwkv6", "rwkv7",
                                           "minimax-01", "kimi-linear"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

class SavedStates : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto session = engine_->create_session({}, nullptr);
    hash_after(*session, some_tokens(40));
    bytes_ = session->save();
  }
  std::string message_of_restoring() const {
    try {
      const auto file = gguf::File::from_memory(nullptr, bytes_, "saved");
      engine_->restore_session(*file, SessionOptions(), nullptr);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_FORMAT);
      return error.what();
    }
    return "";
  }

  std::shared_ptr<Engine> engine_ = load_states();
  std::vector<std::byte> bytes_;
};

TEST_F(SavedStates, NonFiniteStatesAreRefused) {
  EXPECT_EQ(message_of_restoring(), "");
  const auto file = gguf::File::from_memory(nullptr, bytes_, "saved");
  const gguf::Tensor* tensor = file->find_tensor("blk.2.scan");
  ASSERT_NE(tensor, nullptr);
  const float infinite = std::numeric_limits<float>::infinity();
  std::memcpy(bytes_.data() + tensor->offset + 8, &infinite, sizeof infinite);
  correct_checksum(&bytes_);
  EXPECT_NE(message_of_restoring().find("blk.2.scan holds inf"),
            std::string::npos);
}

TEST_F(SavedStates, MissingStatesAreRefused) {
  const std::string name = "blk.0.conv_b";
  const auto at = std::search(
      bytes_.begin(), bytes_.end(), name.begin(), name.end(),
      [](std::byte a, char b) { return a == static_cast<std::byte>(b); });
  ASSERT_NE(at, bytes_.end());
  *at = static_cast<std::byte>('x');
  correct_checksum(&bytes_);
  EXPECT_NE(message_of_restoring().find(name + " is missing"),
            std::string::npos);
}

}  // namespace
}  // namespace rc::engine::test
