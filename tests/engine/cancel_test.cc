// Ending early: cancellation at every stage, deadlines, failing devices; and
// every request ends exactly once.
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <thread>

#include "base/error.h"
#include "engine_util.h"
#include "faulty_device.h"

namespace rc::engine::test {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

SessionOptions endless() {
  SessionOptions options;
  options.shift_when_full = true;
  return options;
}

class Faulty : public ::testing::Test {
 protected:
  void SetUp() override {
    EngineOptions options = small_options();
    engine_ = Engine::load(small_model(), open_faulty_device(), options, {});
  }
  void TearDown() override { fault_control().fault = Fault::kNone; }
  // Waits until the device is at work.
  void wait_for_run() {
    while (fault_control().runs == 0) {
      std::this_thread::sleep_for(milliseconds(1));
    }
  }
  std::shared_ptr<Engine> engine_;
};

TEST(Cancel, EndsAGeneration) {
  const auto engine = load();
  const auto session = engine->create_session(endless(), nullptr);
  const auto listener = std::make_shared<TestListener>();
  const auto request =
      session->generate(greedy(some_tokens(10), 1000000), listener);
  listener->wait_for_tokens(5);
  request->cancel();
  request->cancel();
  const auto& report = listener->wait();
  EXPECT_EQ(report.reason, RC_END_CANCELLED);
  EXPECT_EQ(report.status, RC_E_CANCELLED);
  EXPECT_GE(report.generated_tokens, 5);
  EXPECT_EQ(listener->tokens.size(),
            static_cast<size_t>(report.generated_tokens));
  request->cancel();  // and after the end
  EXPECT_EQ(generate(*session, greedy({}, 3)).report.status, RC_OK);
}

TEST(Cancel, EndsAWaitingRequest) {
  const auto engine = load();
  const auto session = engine->create_session(endless(), nullptr);
  const auto first = std::make_shared<TestListener>();
  const auto second = std::make_shared<TestListener>();
  const auto running =
      session->generate(greedy(some_tokens(10), 1000000), first);
  const auto waiting = session->generate(greedy({5}, 10), second);
  first->wait_for_tokens(1);
  waiting->cancel();
  EXPECT_EQ(second->wait().reason, RC_END_CANCELLED);
  EXPECT_EQ(second->wait().generated_tokens, 0);
  EXPECT_EQ(first->ends, 0);
  running->cancel();
  EXPECT_EQ(first->wait().reason, RC_END_CANCELLED);
}

TEST(Cancel, WorksFromAPieceCallback) {
  const auto engine = load();
  const auto session = engine->create_session({}, nullptr);
  const auto listener = std::make_shared<TestListener>();
  std::shared_ptr<Request> request;
  std::mutex mutex;
  std::unique_lock lock(mutex);
  listener->on_piece = [&](const Piece&) {
    const std::lock_guard inside(mutex);
    request->cancel();
  };
  request = session->generate(greedy(some_tokens(10), 100), listener);
  lock.unlock();
  EXPECT_EQ(listener->wait().reason, RC_END_CANCELLED);
  EXPECT_EQ(listener->wait().generated_tokens, 1);
  request.reset();
}

TEST_F(Faulty, CancelStopsAPromptStep) {
  fault_control().fault = Fault::kSlow;
  const auto session = engine_->create_session({}, nullptr);
  const auto listener = std::make_shared<TestListener>();
  const auto request = session->generate(greedy(some_tokens(200), 5), listener);
  wait_for_run();
  request->cancel();
  EXPECT_EQ(listener->wait().reason, RC_END_CANCELLED);
  session->tokens();  // waits for the end of the step
  EXPECT_EQ(fault_control().cancelled, 1);
  // The session has its tokens and can go on.
  fault_control().fault = Fault::kNone;
  EXPECT_EQ(session->position(), 200);
  EXPECT_EQ(generate(*session, greedy({}, 5)).tokens,
            generate(*load(), greedy(some_tokens(200), 5)).tokens);
}

TEST_F(Faulty, OthersAreEvaluatedAgainAfterACancelledStep) {
  fault_control().fault = Fault::kSlow;
  const auto cancelled = std::make_shared<TestListener>();
  const auto other = std::make_shared<TestListener>();
  const auto session = engine_->create_session({}, nullptr);
  const auto second = engine_->create_session({}, nullptr);
  const auto request =
      session->generate(greedy(some_tokens(200), 5), cancelled);
  second->generate(greedy(some_tokens(150, 2), 5), other);
  wait_for_run();
  fault_control().fault = Fault::kNone;
  request->cancel();
  EXPECT_EQ(cancelled->wait().reason, RC_END_CANCELLED);
  EXPECT_EQ(other->wait().status, RC_OK) << other->message;
  EXPECT_EQ(other->tokens,
            generate(*load(), greedy(some_tokens(150, 2), 5)).tokens);
}

TEST_F(Faulty, DeadlineEndsAPromptStep) {
  fault_control().fault = Fault::kSlow;
  RequestOptions options = greedy(some_tokens(200), 5);
  // A busy machine may need longer until the step begins.
  for (milliseconds limit(50); fault_control().cancelled == 0; limit *= 2) {
    ASSERT_LT(limit, milliseconds(600000));
    options.deadline = Clock::now() + limit;
    const auto session = engine_->create_session({}, nullptr);
    const Result result = generate(*session, options);
    EXPECT_EQ(result.report.reason, RC_END_DEADLINE);
    EXPECT_EQ(result.report.status, RC_E_DEADLINE);
    session->tokens();  // waits for the end of the step
  }
  EXPECT_EQ(fault_control().cancelled, 1);
}

TEST(Deadline, EndsAGeneration) {
  const auto engine = load();
  RequestOptions options = greedy(some_tokens(10), 1000000);
  options.deadline = Clock::now() + milliseconds(60);
  const Result result = generate(*engine, options, endless());
  EXPECT_EQ(result.report.reason, RC_END_DEADLINE);
  EXPECT_EQ(result.report.status, RC_E_DEADLINE);
}

TEST(Deadline, MayBeInThePast) {
  const auto engine = load();
  RequestOptions options = greedy(some_tokens(10), 10);
  options.deadline = Clock::now() - milliseconds(1);
  const Result result = generate(*engine, options);
  EXPECT_EQ(result.report.reason, RC_END_DEADLINE);
  EXPECT_EQ(result.report.generated_tokens, 0);
}

TEST_F(Faulty, FailureEndsOnlyTheRequestsOfTheStep) {
  const auto session = engine_->create_session({}, nullptr);
  const auto whole = generate(*load(), greedy(some_tokens(20), 10));
  EXPECT_EQ(generate(*session, greedy(some_tokens(20), 4)).report.status,
            RC_OK);
  fault_control().fault = Fault::kError;
  const Result failed = generate(*session, greedy({}, 6));
  EXPECT_EQ(failed.report.reason, RC_END_ERROR);
  EXPECT_EQ(failed.report.status, RC_E_DEVICE);
  EXPECT_NE(failed.message.find("the test wants it"), std::string::npos);
  EXPECT_EQ(session->position(), 24);
  EXPECT_THROW(session->decode(false), Error);
  fault_control().fault = Fault::kNone;
  EXPECT_EQ(generate(*session, greedy({}, 6)).tokens,
            std::vector<TokenId>(whole.tokens.begin() + 4, whole.tokens.end()));
}

TEST_F(Faulty, NanLogitsAreADeviceError) {
  fault_control().fault = Fault::kNonsense;
  const Result result = generate(*engine_, greedy(some_tokens(20), 4));
  EXPECT_EQ(result.report.status, RC_E_DEVICE);
  EXPECT_NE(result.message.find("token 0"), std::string::npos);
}

TEST_F(Faulty, LostDeviceFailsAtOnceAndLoadMakesANewEngine) {
  const auto session = engine_->create_session({}, nullptr);
  session->append(some_tokens(20));
  fault_control().fault = Fault::kLost;
  EXPECT_EQ(generate(*session, greedy({}, 4)).report.status, RC_E_DEVICE_LOST);
  fault_control().fault = Fault::kNone;
  const int runs = fault_control().runs;
  EXPECT_EQ(generate(*session, greedy({}, 4)).report.status, RC_E_DEVICE_LOST);
  EXPECT_EQ(fault_control().runs, runs);
  EXPECT_EQ(session->tokens(), some_tokens(20));
  const auto fresh =
      Engine::load(small_model(), engine_->device(), small_options(), {});
  EXPECT_NE(fresh, engine_);
  EXPECT_EQ(generate(*fresh, greedy(some_tokens(20), 4)).report.status, RC_OK);
}

TEST_F(Faulty, HangingStepEndsWithATimeout) {
  EngineOptions options = small_options();
  options.timeout_ms = 20;
  const auto engine =
      Engine::load(small_model(), engine_->device(), options, {});
  fault_control().fault = Fault::kHang;
  const Result result = generate(*engine, greedy(some_tokens(20), 4));
  EXPECT_EQ(result.report.status, RC_E_TIMEOUT);
}

TEST(Requests, EndExactlyOnce) {
  EngineOptions options = small_options();
  options.cache_tokens = 1024;  // not enough for all of them at once
  const auto engine = load(options, "cpu", 2);
  std::vector<std::shared_ptr<TestListener>> listeners;
  std::vector<std::shared_ptr<Request>> requests;
  std::mt19937 random(3);
  for (uint32_t i = 0; i < 64; ++i) {
    RequestOptions request = greedy(some_tokens(1 + random() % 120, i),
                                    static_cast<int64_t>(random() % 60));
    request.priority = static_cast<int32_t>(random() % 3);
    if (i % 5 == 1) request.deadline = Clock::now() + milliseconds(30);
    listeners.push_back(std::make_shared<TestListener>());
    requests.push_back(engine->create_session({}, nullptr)
                           ->generate(request, listeners.back()));
    if (i % 7 == 3) requests.back()->cancel();
  }
  for (size_t i = 5; i < 64; i += 9) requests[i]->cancel();
  for (const auto& listener : listeners) {
    const auto& report = listener->wait();
    EXPECT_TRUE(report.reason == RC_END_LENGTH ||
                report.reason == RC_END_CANCELLED ||
                report.reason == RC_END_DEADLINE)
        << report.reason << " " << listener->message;
  }
  // Nothing comes after the end: the engine thread has gone.
  requests.clear();
  for (const auto& listener : listeners) EXPECT_EQ(listener->ends, 1);
}

TEST(Requests, MayBeMadeFromManyThreads) {
  const auto engine = load(small_options(), "cpu", 2);
  const auto expected = generate(*engine, greedy(some_tokens(40), 20)).tokens;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 4; ++round) {
        const auto session = engine->create_session({}, nullptr);
        if (i % 2 == 0) {
          EXPECT_EQ(generate(*session, greedy(some_tokens(40), 20)).tokens,
                    expected);
        } else {
          session->append(some_tokens(30, static_cast<uint32_t>(i)));
          session->decode(round % 2 == 0);
          const auto fork = session->fork();
          fork->truncate(20);
          const auto listener = std::make_shared<TestListener>();
          fork->generate(greedy({}, 1000), listener)->cancel();
          listener->wait();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace rc::engine::test
