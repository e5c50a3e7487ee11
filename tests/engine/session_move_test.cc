// Sessions that move to another engine while their requests go on.
#include "engine/session_move.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <random>
#include <thread>

#include "engine/engine_handle.h"
#include "faulty_device.h"
#include "session_util.h"
#include "text/grammar/grammar.h"

namespace rc::engine::test {
namespace {

// An engine that no other one is shared with.
std::shared_ptr<Engine> engine_of(int64_t cache_tokens,
                                  const std::string& model = "llama2",
                                  EngineOptions options = small_options()) {
  options.cache_tokens = cache_tokens;
  return load(options, "cpu", 1, model);
}

// Sessions that go from one engine to another and back.
class Movers {
 public:
  explicit Movers(std::shared_ptr<Engine> here) : here_(std::move(here)) {}

  std::shared_ptr<Session> session(const SessionOptions& options = {}) {
    return add(here_->create_session(options, nullptr));
  }
  std::shared_ptr<Session> add(std::shared_ptr<Session> session) {
    const std::lock_guard lock(list_->mutex());
    session->join(list_);
    return session;
  }
  // `between` is done when the sessions have been copied.
  void move(
      const std::shared_ptr<Engine>& to,
      const std::function<void()>& between = [] {}) {
    SessionMove move({{list_, here_, to}});
    move.copy([] { return false; });
    between();
    move.run([&] { here_ = to; });
  }
  std::shared_ptr<Engine>& here() { return here_; }

 private:
  std::shared_ptr<Engine> here_;
  std::shared_ptr<SessionList> list_ = std::make_shared<SessionList>();
};

int64_t evaluated(Engine& engine, const std::vector<TokenId>& tokens) {
  int64_t found = -1;
  static_cast<EngineHandle&>(engine).core()->call([&](Core& core) {
    for (const auto& session : core.pages().sessions()) {
      if (std::ranges::equal(session->items.tokens(), tokens)) {
        found = session->residence.evaluated;
      }
    }
  });
  return found;
}

RequestOptions sampled(uint64_t seed, int64_t max_tokens) {
  std::vector<TokenId> prompt =
      some_tokens(5 + seed % 40, static_cast<uint32_t>(seed));
  // The smallest vocabulary has 73 tokens.
  for (TokenId& token : prompt) token = 3 + token % 64;
  RequestOptions options = greedy(std::move(prompt), max_tokens);
  options.sampling.temperature = 1;
  options.sampling.seed = seed;
  return options;
}

// Models with pages, with states, and with windows.
class MovedWith : public testing::TestWithParam<const char*> {};

TEST_P(MovedWith, TextsAreTheSame) {
  constexpr size_t kCount = 6;
  const auto first = engine_of(2048, GetParam());
  const auto second = engine_of(1600, GetParam());
  std::vector<Result> expected;
  for (size_t i = 0; i < kCount; ++i) {
    expected.push_back(generate(*first, sampled(i, 60)));
  }
  Movers movers(first);
  std::vector<std::shared_ptr<Session>> sessions;
  std::vector<std::shared_ptr<TestListener>> listeners;
  for (size_t i = 0; i < kCount; ++i) {
    sessions.push_back(movers.session());
    listeners.push_back(std::make_shared<TestListener>());
    sessions.back()->generate(sampled(i, 60), listeners.back());
  }
  for (size_t move = 0; move < 12; ++move) {
    listeners[move % kCount]->wait_for_tokens(4 * (move + 1));
    movers.move(movers.here() == first ? second : first);
  }
  for (size_t i = 0; i < kCount; ++i) {
    const rc_generate_report& report = listeners[i]->wait();
    EXPECT_EQ(listeners[i]->ends, 1);
    EXPECT_EQ(listeners[i]->tokens, expected[i].tokens) << i;
    EXPECT_EQ(listeners[i]->text, expected[i].text) << i;
    EXPECT_EQ(report.status, RC_OK) << listeners[i]->message;
    EXPECT_EQ(report.reason, expected[i].report.reason);
    EXPECT_EQ(report.prompt_tokens, expected[i].report.prompt_tokens);
    EXPECT_EQ(report.generated_tokens, 60);
  }
}

INSTANTIATE_TEST_SUITE_P(SessionMove, MovedWith,
                         testing::Values("llama2", "mamba2", "granitehybrid",
                                         "gemma2", "t5"),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

// Under a grammar, with logprobs and a stop string, and the next request of the
// same session behind it.
TEST(SessionMove, RequestKeepsItsState) {
  const auto first = engine_of(2048);
  const auto second = engine_of(1600);
  RequestOptions bound = sampled(3, 50);
  bound.logprobs = 2;
  bound.grammar = text::grammar::Grammar::regex(
      "([a-z]{1,5} ){30}", {}, first->file().tokenizer()->grammar_vocabulary());
  RequestOptions after = sampled(4, 30);
  after.stop = {"e"};
  const auto run = [&](Session& session, const std::function<void()>& move) {
    const auto one = std::make_shared<TestListener>();
    const auto two = std::make_shared<TestListener>();
    session.generate(bound, one);
    session.generate(after, two);
    for (const size_t tokens : {3, 9, 30}) {
      one->wait_for_tokens(tokens);
      move();
    }
    one->wait();
    move();
    two->wait();
    EXPECT_EQ(one->ends + two->ends, 2);
    std::vector<float> logprobs;
    for (const auto* list : {&one->logprobs, &one->top_logprobs}) {
      for (const TokenLogprob& each : *list) logprobs.push_back(each.logprob);
    }
    return std::tuple(one->text, two->text, one->tokens, two->tokens, logprobs);
  };
  const auto unmoved = first->create_session({}, nullptr);
  const auto expected = run(*unmoved, [] {});
  Movers movers(first);
  const auto session = movers.session();
  EXPECT_EQ(run(*session,
                [&] { movers.move(movers.here() == first ? second : first); }),
            expected);
  EXPECT_EQ(session->tokens(), unmoved->tokens());
}

TEST(SessionMove, EvaluatedPagesAreCopied) {
  Movers movers(engine_of(2048));
  const auto session = movers.session();
  session->append(some_tokens(150));
  const uint64_t expected = decoded(*session);
  const auto to = engine_of(1600);
  movers.move(to);
  EXPECT_EQ(evaluated(*to, session->tokens()), 150);
  EXPECT_EQ(session->engine(), to);
  // The logits of the last decode go with it.
  EXPECT_EQ(hash_logits(*session), expected);
  EXPECT_EQ(decoded(*session), expected);
}

// If a session has changed since it was copied, only the unchanged part of the
// copy is used.
TEST(SessionMove, ChangesSinceTheCopyAreEvaluatedAgain) {
  Movers movers(engine_of(2048));
  const auto session = movers.session();
  session->append(some_tokens(150));
  session->decode(false);
  const auto to = engine_of(1600);
  movers.move(to, [&] {
    session->truncate(100);
    session->append(some_tokens(70, 9));
    session->decode(false);
  });
  EXPECT_EQ(evaluated(*to, session->tokens()), 100);
  const auto fresh = session_with(*to, session->tokens());
  EXPECT_EQ(decoded(*session), decoded(*fresh));
}

// Jobs count on having rows left that were not evaluated when they began.
TEST(SessionMove, NoMoreIsEvaluatedThanBefore) {
  const auto from = engine_of(2048);
  Movers movers(from);
  const auto session = movers.session();
  const std::vector<TokenId> tokens(150, 5);
  session->append(tokens);
  session->decode(false);
  const auto to = engine_of(1600);
  movers.move(to, [&] {
    session->truncate(100);
    session->append({tokens.begin() + 100, tokens.end()});
    EXPECT_EQ(evaluated(*from, session->tokens()), 100);
  });
  EXPECT_EQ(evaluated(*to, session->tokens()), 100);
  EXPECT_EQ(decoded(*session), decoded(*session_with(*to, tokens)));
}

TEST(SessionMove, WorksBetweenCacheLayouts) {
  EngineOptions wide = small_options();
  wide.cache_dtype = RC_DTYPE_F32;
  const auto narrow = engine_of(1600);
  Movers movers(engine_of(2048, "llama2", wide));
  const auto session = movers.session();
  session->append(some_tokens(90));
  session->decode(false);
  movers.move(narrow);
  EXPECT_EQ(evaluated(*narrow, session->tokens()), 0);
  EXPECT_EQ(decoded(*session),
            decoded(*session_with(*narrow, some_tokens(90))));
}

// The engine goes with the last of what it has; a request keeps the one where
// it is.
TEST(SessionMove, RequestsWithoutHandlesMove) {
  const auto to = engine_of(1600);
  const auto listener = std::make_shared<TestListener>();
  Hold hold(3);
  listener->on_piece = [&](const Piece&) { hold.piece(); };
  std::weak_ptr<Engine> before;
  {
    Movers movers(engine_of(2048));
    before = movers.here();
    auto session = movers.session();
    session->generate(sampled(1, 40), listener);
    hold.wait();
    session.reset();
    std::thread release([&] { hold.release(); });
    movers.move(to);
    release.join();
  }
  EXPECT_TRUE(before.expired());
  EXPECT_EQ(listener->wait().generated_tokens, 40);
  EXPECT_EQ(listener->tokens, generate(*to, sampled(1, 40)).tokens);
}

TEST(SessionMove, CancelledAndLateRequestsEnd) {
  const auto first = engine_of(2048);
  const auto second = engine_of(1600);
  Movers movers(first);
  SessionOptions endless;
  endless.shift_when_full = true;
  const auto session = movers.session(endless);
  const auto late = movers.session();
  const auto one = std::make_shared<TestListener>();
  const auto two = std::make_shared<TestListener>();
  const auto request = session->generate(greedy(some_tokens(4), -1), one);
  RequestOptions limited = greedy(some_tokens(4), 400);
  limited.deadline = std::chrono::steady_clock::now();
  one->wait_for_tokens(2);
  movers.move(second, [&] {
    request->cancel();
    late->generate(limited, two);
  });
  EXPECT_EQ(one->wait().reason, RC_END_CANCELLED);
  EXPECT_EQ(two->wait().reason, RC_END_DEADLINE);
  EXPECT_EQ(one->ends + two->ends, 2);
}

TEST(SessionMove, WorksIntoASmallerContext) {
  EngineOptions small = small_options();
  small.context_length = 64;
  const auto to = engine_of(1600, "llama2", small);
  const auto from = engine_of(2048);
  Movers movers(from);
  const auto shorter = movers.session();
  shorter->append(some_tokens(20));
  {
    const auto longer = movers.session();
    longer->append(some_tokens(65));
    expect_status(
        RC_E_CONTEXT_FULL, [&] { movers.move(to); }, "65 tokens");
    EXPECT_EQ(longer->engine(), from);
    EXPECT_EQ(shorter->engine(), from);
    longer->decode(false);
  }
  movers.move(to);
  EXPECT_EQ(shorter->options().context_length, 64);
  EXPECT_EQ(generate(*shorter, greedy({1}, 200)).report.reason, RC_END_CONTEXT);
  EXPECT_EQ(shorter->position(), 64);
  // One of the whole context is one where that is longer.
  movers.move(from);
  EXPECT_EQ(shorter->options().context_length, from->options().context_length);
}

TEST(SessionMove, WorksFromALostDevice) {
  EngineOptions options = small_options();
  options.cache_tokens = 512;
  auto lost = Engine::load(small_model(), open_faulty_device(), options, {});
  Movers movers(lost);
  const auto session = movers.session();
  session->append(some_tokens(40));
  session->decode(false);
  fault_control().fault = Fault::kLost;
  EXPECT_EQ(generate(*session, greedy({1}, 2)).report.status, RC_E_DEVICE_LOST);
  const auto to = engine_of(1600);
  movers.move(to);
  fault_control().fault = Fault::kNone;
  EXPECT_EQ(decoded(*session), decoded(*session_with(*to, session->tokens())));
}

// Sessions are forked, changed and dropped by other threads meanwhile.
TEST(SessionMove, WorksWhileOtherThreadsUseTheSessions) {
  const auto first = engine_of(2048);
  const auto second = engine_of(1600);
  const Result expected = generate(*first, sampled(2, 6));
  Movers movers(first);
  const auto origin = movers.session();
  origin->append(some_tokens(30));
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        const auto fork = origin->fork();
        EXPECT_EQ(fork->position(), 30);
        fork->append({7, 8});
        fork->decode(true);
        EXPECT_EQ(fork->logits().rows, 32u);
        fork->truncate(0);
        EXPECT_EQ(generate(*fork, sampled(2, 6)).tokens, expected.tokens);
      }
    });
  }
  for (int i = 0; i < 30; ++i) {
    movers.move(movers.here() == first ? second : first);
    std::this_thread::sleep_for(std::chrono::milliseconds(i % 5));
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace rc::engine::test
