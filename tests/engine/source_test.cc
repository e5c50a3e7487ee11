// Sessions of models that read a source: what they generate, whatever else
// runs, and what their positions mean.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <thread>

#include "session_util.h"
#include "test_data.h"

namespace rc::engine::test {
namespace {

constexpr TokenId kFirst = 0;  // of "t5", "flan-t5" and "umt5"

EngineOptions source_options(int64_t context = 256) {
  EngineOptions options;
  options.context_length = context;
  options.cache_tokens = 64 * 256;
  return options;
}

std::shared_ptr<Engine> load_t5(
    const char* model = "t5", int threads = 1,
    const EngineOptions& options = source_options()) {
  return load(options, "cpu", threads, model);
}

std::vector<TokenId> some(size_t count, uint32_t seed) {
  std::vector<TokenId> tokens(count);
  std::mt19937 random(seed);
  for (TokenId& token : tokens) {
    token = 3 + static_cast<TokenId>(random() % 60);
  }
  return tokens;
}

class Source : public ::testing::TestWithParam<const char*> {
 protected:
  std::shared_ptr<Engine> load_it(
      int threads = 1, const EngineOptions& options = source_options()) {
    return load_t5(GetParam(), threads, options);
  }
  const std::vector<TokenId> source_ = some(75, 1);
};
INSTANTIATE_TEST_SUITE_P(Models, Source,
                         ::testing::Values("t5", "flan-t5", "mt5", "umt5"),
                         [](const auto& info) {
                           return test_name(info.param);
                         });

// The text matches that of generate() of transformers.
TEST_P(Source, GreedyTextMatchesTransformers) {
  const auto json = nlohmann::json::parse(
      std::ifstream(rc::test::source_path("tests/golden/architectures") /
                    (std::string(GetParam()) + ".json")));
  const auto& expected = json.at("generated");
  const std::vector<TokenId> tokens = expected.at("tokens");
  const std::vector<TokenId> source = expected.at("source");
  for (const char* backend : {"reference", "cpu"}) {
    const auto engine = load(source_options(), backend, 1, GetParam());
    RequestOptions options = greedy({}, static_cast<int64_t>(tokens.size()));
    options.prompt = expected.at("prompt");
    const auto session = engine->create_session({}, nullptr);
    const Result result = generate(*session, options);
    EXPECT_EQ(result.report.status, RC_OK) << result.message;
    EXPECT_EQ(result.tokens, tokens);
    std::vector<TokenId> all = source;
    all.push_back(
        static_cast<TokenId>(engine->file().hyper_parameters().first_token));
    all.insert(all.end(), tokens.begin(), tokens.end());
    EXPECT_EQ(session->tokens(), all);
    EXPECT_EQ(session->position(), static_cast<int64_t>(all.size()));
    EXPECT_EQ(result.report.prompt_tokens,
              static_cast<int64_t>(source.size()) + 1);
  }
}

TEST_P(Source, DoesNotDependOnThreadsOrSteps) {
  const Played expected = play(*load_it(), source_);
  EXPECT_EQ(play(*load_it(2), source_), expected);
  EngineOptions options = source_options(100);
  options.max_rows = 80;
  EXPECT_EQ(play(*load_it(1, options), source_), expected);
  // In one step what else takes twenty.
  const auto session = session_with(*load_it(), source_);
  session->append(expected.tokens);
  EXPECT_EQ(decoded(*session), expected.after);
}

TEST_P(Source, DoesNotDependOnOtherSessions) {
  const Played expected = play(*load_it(), source_);
  EngineOptions options = source_options();
  options.max_rows = 90;
  const auto engine = load_it(2, options);
  std::vector<std::shared_ptr<Session>> sessions;
  std::vector<std::shared_ptr<TestListener>> listeners;
  for (uint32_t i = 0; i < 12; ++i) {
    sessions.push_back(engine->create_session({}, nullptr));
    listeners.push_back(std::make_shared<TestListener>());
    sessions.back()->generate(greedy(some(1 + 7 * i, 100 + i), 100),
                              listeners.back());
  }
  EXPECT_EQ(play(*engine, source_), expected);
  EXPECT_EQ(play(*engine, source_), expected);
  for (uint32_t i = 0; i < 12; ++i) {
    EXPECT_EQ(listeners[i]->wait().status, RC_OK);
    EXPECT_EQ(
        listeners[i]->tokens,
        generate(*load_it(), greedy(some(1 + 7 * i, 100 + i), 100)).tokens);
  }
}

// The cache holds three of them, who take their pages from each other.
TEST_P(Source, DoesNotDependOnPreemption) {
  EngineOptions options = source_options();
  options.cache_tokens = 3 * 192;
  const auto engine = load_it(1, options);
  std::vector<std::vector<TokenId>> generated(8);
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      generated[i] = generate(*engine, greedy(some(60 + i, i), 90)).tokens;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(generated[i],
              generate(*load_it(), greedy(some(60 + i, i), 90)).tokens)
        << i;
  }
}

// Idle sessions lose their pages one after the other, from the end on.
TEST_P(Source, IdleSessionsContinueAfterLosingPages) {
  const Played expected = play(*load_it(), source_);
  EngineOptions options = source_options();
  options.cache_tokens = 256 + 64;
  const auto engine = load_it(1, options);
  std::vector<std::shared_ptr<Session>> sessions;
  for (int i = 0; i < 4; ++i) {
    sessions.push_back(session_with(*engine, source_));
    EXPECT_EQ(decoded(*sessions.back()), expected.before);
  }
  for (const auto& session : sessions) {
    Played played;
    played.before = expected.before;
    go_on(*session, &played);
    EXPECT_EQ(played, expected);
  }
}

TEST_P(Source, SessionsCanBeTruncatedForkedAndSaved) {
  const auto engine = load_it();
  const Played expected = play(*engine, source_);
  const auto session = session_with(*engine, source_);
  EXPECT_EQ(decoded(*session), expected.before);
  const auto fork = session->fork();
  const std::vector<std::byte> saved = session->save();
  for (const auto& one : {session, fork}) {
    Played played;
    played.before = expected.before;
    go_on(*one, &played);
    EXPECT_EQ(played, expected);
  }
  // Behind the token that generation begins with, or anywhere later.
  for (const size_t kept : {0, 1, 13, 20}) {
    session->truncate(static_cast<int64_t>(source_.size() + 1 + kept));
    session->append({expected.tokens.begin() + static_cast<ptrdiff_t>(kept),
                     expected.tokens.end()});
    EXPECT_EQ(decoded(*session), expected.after) << kept;
  }
  for (const int64_t rows : {80, 256}) {
    EngineOptions options = source_options();
    options.max_rows = rows;
    const auto elsewhere = load_it(1, options);
    const auto file = gguf::File::from_memory(nullptr, saved, "saved");
    const auto restored = elsewhere->restore_session(*file, {}, nullptr);
    Played played;
    played.before = expected.before;
    EXPECT_EQ(restored->tokens().size(), source_.size() + 1);
    go_on(*restored, &played);
    EXPECT_EQ(played, expected);
    // With what was generated, and with nothing evaluated.
    const std::vector<std::byte> later = restored->save();
    const auto again = elsewhere->restore_session(
        *gguf::File::from_memory(nullptr, later, "saved"), {}, nullptr);
    EXPECT_EQ(decoded(*again), expected.after);
    again->truncate(0);
    again->append(source_);
    const auto fresh = elsewhere->restore_session(
        *gguf::File::from_memory(nullptr, again->save(), "saved"), {}, nullptr);
    EXPECT_EQ(decoded(*fresh), expected.before);
  }
}

TEST(SourceSession, HasLogitsOfTheAnswerOnly) {
  const auto engine = load_t5();
  const auto session = session_with(*engine, some(40, 3));
  session->append(some(9, 4));
  session->decode(true);
  const Session::Logits all = session->logits();
  ASSERT_EQ(all.rows, 10u);
  const std::vector<float> rows(all.data, all.data + all.rows * all.vocabulary);
  session->decode(false);
  const Session::Logits last = session->logits();
  ASSERT_EQ(last.rows, 1u);
  EXPECT_TRUE(std::equal(last.data, last.data + last.vocabulary,
                         rows.end() - static_cast<ptrdiff_t>(last.vocabulary)));
}

TEST(SourceSession, SecondSourceIsRefused) {
  const auto engine = load_t5();
  const auto session = session_with(*engine, some(40, 3));
  EXPECT_EQ(session->position(), 41);
  EXPECT_EQ(session->tokens().back(), kFirst);
  // Another prompt is another source.
  const Result refused = generate(*session, greedy(some(5, 1), 3));
  EXPECT_EQ(refused.report.status, RC_E_INVALID_ARGUMENT);
  EXPECT_NE(refused.message.find("truncate"), std::string::npos)
      << refused.message;
  EXPECT_EQ(session->position(), 41);
  for (const int64_t position : {1, 39, 40}) {
    expect_status(
        RC_E_INVALID_ARGUMENT, [&] { session->truncate(position); },
        "or to 41 or more");
  }
  EXPECT_EQ(session->position(), 41);
  session->truncate(0);
  const Result other = generate(*session, greedy(some(50, 5), 9));
  EXPECT_EQ(other.tokens, generate(*engine, greedy(some(50, 5), 9)).tokens);
  EXPECT_EQ(other.report.cached_tokens, 0);
}

TEST(SourceSession, RefusesShiftingAndImpossibleLengths) {
  EngineOptions options = source_options(100);
  const auto engine = load_t5("t5", 1, options);
  SessionOptions shifting;
  shifting.shift_when_full = true;
  expect_status(
      RC_E_UNSUPPORTED, [&] { engine->create_session(shifting, nullptr); },
      "cannot shift");
  const auto session = engine->create_session({}, nullptr);
  expect_status(
      RC_E_CONTEXT_FULL, [&] { session->append(some(100, 1)); },
      "its context holds 100");
  EXPECT_EQ(session->position(), 0);
  const Result nothing = generate(*session, greedy({}, 3));
  EXPECT_EQ(nothing.report.status, RC_E_INVALID_ARGUMENT);
  EXPECT_NE(nothing.message.find("nothing to read"), std::string::npos);
  // The most that fit.
  session->append(some(99, 1));
  EXPECT_EQ(session->position(), 100);
  session->decode(false);
  EXPECT_EQ(generate(*session, greedy({}, 3)).report.status, RC_E_CONTEXT_FULL);
  // A cache with two pages keeps one of them for the answer.
  options.cache_tokens = 64;
  const auto small = load_t5("t5", 1, options);
  expect_status(
      RC_E_CONTEXT_FULL, [&] { session_with(*small, some(33, 1)); },
      "at most 32");
  EXPECT_EQ(generate(*small, greedy(some(32, 1), 10)).report.status, RC_OK);
}

TEST(SourceSession, RestoringAWrongSourceIsRefused) {
  const auto engine = load_t5();
  const auto session = session_with(*engine, some(40, 3));
  session->decode(false);
  const std::vector<std::byte> saved = session->save();
  const auto file = gguf::File::from_memory(nullptr, saved, "saved");
  const gguf::Entry* entry = file->find("runcible.session.source");
  ASSERT_NE(entry, nullptr);
  const auto at = static_cast<size_t>(entry->bytes.data() - saved.data());
  for (const uint8_t source : {0, 41, 255}) {
    std::vector<std::byte> damaged = saved;
    damaged[at] = static_cast<std::byte>(source);
    correct_checksum(&damaged);
    expect_status(
        RC_E_FORMAT,
        [&] {
          engine->restore_session(
              *gguf::File::from_memory(nullptr, damaged, "saved"), {}, nullptr);
        },
        "runcible.session.source");
  }
}

}  // namespace
}  // namespace rc::engine::test
