// Sessions: tokens, logits, fork, truncate.
#include <gtest/gtest.h>

#include "files/gguf/file.h"
#include "session_util.h"

namespace rc::engine::test {
namespace {

TEST(Session, KeepsItsTokens) {
  const auto engine = load();
  const auto session = engine->create_session({}, nullptr);
  EXPECT_EQ(session->position(), 0);
  EXPECT_TRUE(session->tokens().empty());
  session->append({1, 5, 6});
  session->append({});
  session->append({7});
  EXPECT_EQ(session->position(), 4);
  EXPECT_EQ(session->tokens(), std::vector<TokenId>({1, 5, 6, 7}));
  EXPECT_EQ(session->engine(), engine);
}

TEST(Session, RefusesTokensOutsideTheVocabulary) {
  const auto engine = load();
  const auto session = session_with(*engine, {1});
  expect_status(
      RC_E_INVALID_ARGUMENT,
      [&] {
        session->append({3, 272});
      },
      "tokens[1] is 272");
  expect_status(RC_E_INVALID_ARGUMENT, [&] { session->append({-1}); });
  EXPECT_EQ(session->position(), 1);
}

TEST(Session, TextBeginsWithBosOnlyOnce) {
  const auto engine = load();
  const auto session = engine->create_session({}, nullptr);
  session->append_text("ab", RC_TOKENIZE_ADD_SPECIAL);
  const auto first = session->tokens();
  EXPECT_EQ(first[0], 1);
  session->append_text("ab", RC_TOKENIZE_ADD_SPECIAL);
  const auto both = session->tokens();
  EXPECT_EQ(both.size(), 2 * first.size() - 1);
}

TEST(Session, FullContextChangesNothing) {
  const auto engine = load();
  const auto session = session_with(*engine, some_tokens(250));
  expect_status(
      RC_E_CONTEXT_FULL, [&] { session->append(some_tokens(7)); }, "256");
  EXPECT_EQ(session->position(), 250);
  session->append(some_tokens(6));
  session->decode(false);
  EXPECT_EQ(session->position(), 256);
}

TEST(Session, AppendShiftsIfAllowed) {
  const auto engine = load();
  SessionOptions options;
  options.context_length = 20;
  options.shift_when_full = true;
  options.keep_tokens = 2;
  const auto session = engine->create_session(options, nullptr);
  const auto tokens = some_tokens(20);
  session->append(tokens);
  session->append({5});
  // 21 are too many: of the 19 after the first two 9 go.
  std::vector<TokenId> left(tokens.begin(), tokens.begin() + 2);
  left.insert(left.end(), tokens.begin() + 11, tokens.end());
  left.push_back(5);
  EXPECT_EQ(session->tokens(), left);
  EXPECT_EQ(decoded(*session), decoded(*session_with(*engine, left)));
}

TEST(Session, OptionsOutOfRangeAreRefused) {
  const auto engine = load();
  SessionOptions options;
  options.context_length = 257;
  expect_status(
      RC_E_INVALID_ARGUMENT, [&] { engine->create_session(options, nullptr); },
      "256");
  options.context_length = -1;
  expect_status(RC_E_INVALID_ARGUMENT,
                [&] { engine->create_session(options, nullptr); });
  options = SessionOptions();
  options.keep_tokens = -1;
  expect_status(
      RC_E_INVALID_ARGUMENT, [&] { engine->create_session(options, nullptr); },
      "keep");
  options.keep_tokens = 255;
  options.shift_when_full = true;
  expect_status(
      RC_E_INVALID_ARGUMENT, [&] { engine->create_session(options, nullptr); },
      "keep");
}

TEST(Session, LogitsBelongToTheLastDecode) {
  const auto engine = load();
  const auto session = engine->create_session({}, nullptr);
  expect_status(RC_E_INVALID_ARGUMENT, [&] { session->decode(false); });
  expect_status(RC_E_NOT_FOUND, [&] { session->logits(); });
  session->append(some_tokens(10));
  session->decode(false);
  EXPECT_EQ(session->logits().rows, 1u);
  EXPECT_EQ(session->logits().vocabulary, 272u);
  const uint64_t hash = hash_logits(*session);
  EXPECT_EQ(decoded(*session), hash);  // the last token once more
  session->append({9});
  expect_status(RC_E_NOT_FOUND, [&] { session->logits(); });
  session->truncate(10);
  EXPECT_EQ(decoded(*session), hash);
}

TEST(Session, AllLogitsCoverNewTokensOnly) {
  const auto engine = load();
  const auto session = session_with(*engine, some_tokens(100));
  session->decode(false);
  session->append({5, 6, 7});
  session->decode(true);
  EXPECT_EQ(session->logits().rows, 3u);
}

TEST(Session, TruncateRemovesTokens) {
  const auto engine = load();
  const auto tokens = some_tokens(100);
  for (size_t position : {1, 31, 32, 33, 64, 99}) {
    const std::vector<TokenId> kept(
        tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(position));
    const auto session = session_with(*engine, tokens);
    session->decode(false);
    session->truncate(static_cast<int64_t>(position));
    session->append({200, 201});
    auto expected = kept;
    expected.insert(expected.end(), {200, 201});
    EXPECT_EQ(session->tokens(), expected);
    EXPECT_EQ(decoded(*session), decoded(*session_with(*engine, expected)));
  }
  const auto session = session_with(*engine, tokens);
  expect_status(
      RC_E_INVALID_ARGUMENT, [&] { session->truncate(101); }, "100");
  expect_status(RC_E_INVALID_ARGUMENT, [&] { session->truncate(-1); });
  session->truncate(0);
  EXPECT_EQ(session->position(), 0);
}

// Tokens that one session writes after a truncation must not appear in others
// that share its pages.
TEST(Session, AppendAfterTruncateKeepsSharedPages) {
  const auto engine = load();
  const auto tokens = some_tokens(100);
  const auto session = session_with(*engine, tokens);
  const uint64_t expected = decoded(*session);
  const auto fork = session->fork();
  fork->truncate(70);
  fork->append(some_tokens(25, 9));
  fork->decode(false);
  EXPECT_EQ(decoded(*session), expected);
  EXPECT_EQ(decoded(*session_with(*engine, tokens)), expected);
}

TEST(Session, ForksAreIndependent) {
  for (const bool prefix_cache : {false, true}) {
    EngineOptions options = small_options();
    options.prefix_cache = prefix_cache;
    const auto engine = load(options);
    const auto session = session_with(*engine, some_tokens(75));
    session->decode(false);
    const auto fork = session->fork();
    EXPECT_EQ(fork->tokens(), session->tokens());
    const auto a = generate(*session, greedy({5}, 30));
    const auto b = generate(*fork, greedy({6}, 30));
    auto prompt = some_tokens(75);
    prompt.push_back(5);
    EXPECT_EQ(generate(*engine, greedy(prompt, 30)).tokens, a.tokens);
    prompt.back() = 6;
    EXPECT_EQ(generate(*engine, greedy(prompt, 30)).tokens, b.tokens);
  }
}

TEST(Session, AForkOutlivesItsOrigin) {
  const auto engine = load();
  std::shared_ptr<Session> fork;
  {
    const auto session = session_with(*engine, some_tokens(75));
    session->decode(false);
    fork = session->fork();
  }
  EXPECT_EQ(decoded(*fork), decoded(*session_with(*engine, some_tokens(75))));
}

TEST(Session, IsBusyWhileARequestIsInFlight) {
  const auto engine = load();
  SessionOptions shifting;
  shifting.shift_when_full = true;
  const auto session = engine->create_session(shifting, nullptr);
  const auto listener = std::make_shared<TestListener>();
  const auto request =
      session->generate(greedy(some_tokens(10), 1000000), listener);
  listener->wait_for_tokens(3);
  expect_status(
      RC_E_BUSY, [&] { session->append({5}); }, "1 request");
  expect_status(RC_E_BUSY, [&] { session->append_text("a", 0); });
  expect_status(RC_E_BUSY, [&] { session->decode(false); });
  expect_status(RC_E_BUSY, [&] { session->logits(); });
  expect_status(RC_E_BUSY, [&] { session->position(); });
  expect_status(RC_E_BUSY, [&] { session->tokens(); });
  expect_status(RC_E_BUSY, [&] { session->truncate(0); });
  expect_status(RC_E_BUSY, [&] { session->fork(); });
  expect_status(RC_E_BUSY, [&] { session->save(); });
  request->cancel();
  listener->wait();
  session->truncate(0);
}

TEST(Session, AReleasedSessionFinishesItsRequests) {
  const auto engine = load();
  const auto listener = std::make_shared<TestListener>();
  engine->create_session({}, nullptr)
      ->generate(greedy(some_tokens(10), 20), listener);
  EXPECT_EQ(listener->wait().reason, RC_END_LENGTH);
}

// The engine thread itself drops the last reference to the engine.
TEST(Session, RequestMayHoldTheLastReference) {
  const auto listener = std::make_shared<TestListener>();
  {
    auto engine = load();
    engine->create_session({}, nullptr)
        ->generate(greedy(some_tokens(10), 20), listener);
  }
  EXPECT_EQ(listener->wait().reason, RC_END_LENGTH);
}

// Idle sessions give their pages to others and go on as if they had them.
TEST(Session, EvictedIdleSessionIsEvaluatedAgain) {
  EngineOptions options = small_options();
  options.cache_tokens = 256;
  options.prefix_cache = false;
  const auto engine = load(options);
  std::vector<std::shared_ptr<Session>> sessions;
  std::vector<uint64_t> expected;
  for (uint32_t i = 0; i < 4; ++i) {
    sessions.push_back(session_with(*engine, some_tokens(100, i)));
    expected.push_back(decoded(*sessions.back()));
  }
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(decoded(*sessions[i]), expected[i]);
}

TEST(Session, SessionLargerThanTheCacheIsAnError) {
  EngineOptions options = small_options();
  options.cache_tokens = 64;
  const auto engine = load(options);
  const auto session = session_with(*engine, some_tokens(100));
  expect_status(
      RC_E_DEVICE_MEMORY, [&] { session->decode(false); }, "cache_tokens");
  EXPECT_EQ(session->position(), 100);
  session->truncate(60);
  session->decode(false);
  const Result result = generate(*engine, greedy(some_tokens(50), 30));
  EXPECT_EQ(result.report.status, RC_E_DEVICE_MEMORY);
  EXPECT_EQ(result.tokens.size(), 15u);
}

// A session that fills the whole cache and shares its last page with a fork and
// the prefix cache still finds a page to write to.
TEST(Session, TheWholeCacheCanBeUsed) {
  EngineOptions options = small_options();
  options.context_length = options.cache_tokens = 128;
  const auto engine = load(options);
  const auto session = session_with(*engine, some_tokens(128));
  const uint64_t expected = decoded(*session);
  const auto fork = session->fork();
  EXPECT_EQ(decoded(*session), expected);
  EXPECT_EQ(decoded(*fork), expected);
  fork->truncate(100);
  EXPECT_EQ(decoded(*fork), decoded(*session_with(*engine, fork->tokens())));
}

TEST(Session, NeedsAModelThatGeneratesText) {
  const auto file = small_model("bert");
  EXPECT_TRUE(plan(*file, open_device(), {}).fits);
  const auto engine = Engine::load(file, open_device(), {}, {});
  for (const char* part :
       {"bert.gguf", "architecture bert", "hidden rows", "text"}) {
    expect_status(
        RC_E_UNSUPPORTED, [&] { engine->create_session({}, nullptr); }, part);
  }
  const std::vector<std::byte> saved = session_with(*load(), {1, 5})->save();
  const auto from = gguf::File::from_memory(nullptr, saved, "saved");
  expect_status(
      RC_E_UNSUPPORTED, [&] { engine->restore_session(*from, {}, nullptr); },
      "hidden rows");
}

}  // namespace
}  // namespace rc::engine::test
