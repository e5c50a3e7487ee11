// Prompts of text: refused as too long, or tokenized, without delaying
// other requests.
//
// Durations are measured by the processor time of threads, which does
// not depend on other programs.
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>

#include "base/error.h"
#include "engine_util.h"

namespace rc::engine::test {
namespace {

using std::chrono::milliseconds;

double cpu_seconds(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

template <class Function>
double cpu_of(clockid_t clock, Function&& function) {
  const double before = cpu_seconds(clock);
  function();
  return cpu_seconds(clock) - before;
}

std::string long_text(size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += "once upon a time there was a fox; ";
  return text;
}

RequestOptions asking(const std::string& text, int64_t max_tokens = 4) {
  RequestOptions options = greedy({}, max_tokens);
  options.prompt = text;
  return options;
}

SessionOptions shifting() {
  SessionOptions options;
  options.shift_when_full = true;
  return options;
}

class Prompts : public ::testing::Test {
 protected:
  // The time that it takes to tokenize the text on this thread.
  double seconds_for(const std::string& text) const {
    return cpu_of(CLOCK_THREAD_CPUTIME_ID, [&] {
      static_cast<void>(engine_->file().tokenizer()->tokenize(text, {}));
    });
  }
  // Creates a session of one tenant, unless another is given.
  std::shared_ptr<Session> session(const SessionOptions& options = {},
                                   std::shared_ptr<Account> account = nullptr) {
    return engine_->create_session(options, account ? account : account_);
  }
  const std::shared_ptr<Engine> engine_ = load();
  const std::shared_ptr<Account> account_ = std::make_shared<Account>();
};

TEST_F(Prompts, TooLongTextsAreRefusedBeforeTokenizing) {
  const std::string text = long_text(2 << 20);
  const double whole = seconds_for(text);
  const auto target = session();
  for (const bool caller_waits : {false, true}) {
    RequestOptions options = asking(text);
    options.caller_waits = caller_waits;
    Result result;
    EXPECT_LT(cpu_of(CLOCK_PROCESS_CPUTIME_ID,
                     [&] { result = generate(*target, options); }),
              whole / 4);
    EXPECT_EQ(result.report.reason, RC_END_CONTEXT);
    EXPECT_EQ(result.report.status, RC_E_CONTEXT_FULL);
    for (const std::string& named :
         {cat(text.size(), " bytes"),
          cat("holds ", engine_->options().context_length)}) {
      EXPECT_NE(result.message.find(named), std::string::npos)
          << result.message;
    }
  }
  EXPECT_LT(cpu_of(CLOCK_PROCESS_CPUTIME_ID,
                   [&] {
                     try {
                       target->append_text(text, 0);
                       ADD_FAILURE() << "it fits";
                     } catch (const Error& error) {
                       EXPECT_EQ(error.status(), RC_E_CONTEXT_FULL);
                     }
                   }),
            whole / 4);
  EXPECT_EQ(target->position(), 0);
  EXPECT_EQ(generate(*target, asking("a fox")).report.status, RC_OK);
}

// A session that shifts takes a text of any length.
TEST_F(Prompts, AreNotTokenizedOnTheCallersThread) {
  const std::string text = long_text(2 << 20);
  const double whole = seconds_for(text);
  const auto target = session(shifting());
  const auto listener = std::make_shared<TestListener>();
  const RequestOptions options = asking(text);
  EXPECT_LT(cpu_of(CLOCK_THREAD_CPUTIME_ID,
                   [&] { target->generate(options, listener); }),
            whole / 4);
  EXPECT_EQ(listener->wait().status, RC_OK) << listener->message;
  EXPECT_EQ(listener->wait().generated_tokens, 4);
}

TEST_F(Prompts, DelayNoOtherSessionAndCanBeCancelled) {
  const auto target = session(shifting());
  const auto listener = std::make_shared<TestListener>();
  const auto request = target->generate(asking(long_text(24 << 20)), listener);
  EXPECT_EQ(generate(*session(), greedy(some_tokens(5), 3)).report.status,
            RC_OK);
  request->cancel();
  EXPECT_EQ(listener->wait().reason, RC_END_CANCELLED);
  // It had not come to its first step.
  EXPECT_EQ(listener->wait().prompt_tokens, 0);
  EXPECT_EQ(target->position(), 0);
  EXPECT_EQ(generate(*target, asking("a fox")).report.status, RC_OK);
}

TEST_F(Prompts, StopAtTheirDeadline) {
  const std::string text = long_text(24 << 20);
  // The time for a twelfth of the text.
  const double part = seconds_for(text.substr(0, text.size() / 12));
  for (const bool caller_waits : {false, true}) {
    RequestOptions options = asking(text);
    options.caller_waits = caller_waits;
    options.deadline = std::chrono::steady_clock::now() + milliseconds(20);
    Result result;
    EXPECT_LT(cpu_of(CLOCK_PROCESS_CPUTIME_ID,
                     [&] { result = generate(*session(shifting()), options); }),
              3 * part);
    EXPECT_EQ(result.report.reason, RC_END_DEADLINE);
    EXPECT_EQ(result.report.status, RC_E_DEADLINE);
    EXPECT_EQ(result.report.prompt_tokens, 0);
  }
}

// A tenant's prompts are read one after the other.
TEST_F(Prompts, StopAtTheirDeadlineBeforeTheirTurn) {
  const auto first = std::make_shared<TestListener>();
  const auto second = std::make_shared<TestListener>();
  const auto long_one =
      session(shifting())->generate(asking(long_text(24 << 20)), first);
  RequestOptions options = asking("a fox");
  options.deadline = std::chrono::steady_clock::now() + milliseconds(20);
  session()->generate(options, second);
  const rc_end_reason reason = second->wait().reason;
  EXPECT_EQ(reason, RC_END_DEADLINE);
  long_one->cancel();
  EXPECT_EQ(first->wait().reason, RC_END_CANCELLED);
}

TEST_F(Prompts, OfATenantDelayNoOtherTenant) {
  std::vector<std::shared_ptr<TestListener>> listeners;
  std::vector<std::shared_ptr<Request>> requests;
  for (int i = 0; i < 4; ++i) {
    listeners.push_back(std::make_shared<TestListener>());
    requests.push_back(
        session(shifting())
            ->generate(asking(long_text(24 << 20)), listeners.back()));
  }
  const auto other = std::make_shared<Account>();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(generate(*session({}, other), asking("a fox")).report.status,
              RC_OK);
  }
  for (const auto& request : requests) request->cancel();
  for (const auto& listener : listeners) listener->wait();
  // The last was still to be read.
  EXPECT_EQ(listeners.back()->wait().reason, RC_END_CANCELLED);
  EXPECT_EQ(listeners.back()->wait().prompt_tokens, 0);
}

// There are fewer threads than tenants here.
TEST_F(Prompts, OfManyTenantsAreAllTokenized) {
  std::vector<std::shared_ptr<TestListener>> listeners;
  for (int i = 0; i < 40; ++i) {
    listeners.push_back(std::make_shared<TestListener>());
    session({}, std::make_shared<Account>())
        ->generate(asking(cat("a fox of ", i)), listeners.back());
  }
  for (const auto& listener : listeners) {
    EXPECT_EQ(listener->wait().status, RC_OK) << listener->message;
  }
}

TEST_F(Prompts, OfOneSessionKeepTheirOrder) {
  const std::string text = long_text(200000);
  const auto target = session(shifting());
  const auto alone = session(shifting());
  std::vector<std::shared_ptr<TestListener>> listeners;
  for (const std::string& prompt : {text, std::string("a fox"), text}) {
    listeners.push_back(std::make_shared<TestListener>());
    target->generate(asking(prompt), listeners.back());
  }
  for (size_t i = 0; i < listeners.size(); ++i) {
    EXPECT_EQ(listeners[i]->wait().status, RC_OK);
    const Result expected =
        generate(*alone, asking(i == 1 ? std::string("a fox") : text));
    EXPECT_EQ(listeners[i]->tokens, expected.tokens) << i;
  }
  EXPECT_EQ(target->tokens(), alone->tokens());
}

TEST_F(Prompts, BeginWithSpecialTokensOnlyAtTheStartOfASession) {
  const auto target = session();
  const auto& tokenizer = *engine_->file().tokenizer();
  ASSERT_TRUE(tokenizer.adds_bos());
  std::vector<std::shared_ptr<TestListener>> listeners;
  for (int i = 0; i < 3; ++i) {
    listeners.push_back(std::make_shared<TestListener>());
    target->generate(asking("a fox", 2), listeners.back());
  }
  for (const auto& listener : listeners)
    EXPECT_EQ(listener->wait().status, RC_OK);
  const std::vector<TokenId> tokens = target->tokens();
  ASSERT_FALSE(tokens.empty());
  EXPECT_EQ(tokens[0], tokenizer.bos());
  EXPECT_EQ(std::count(tokens.begin() + 1, tokens.end(), tokenizer.bos()), 0);
}

TEST(PromptThread, EndsWithItsEngine) {
  const auto listener = std::make_shared<TestListener>();
  {
    auto engine = load();
    const auto request = engine->create_session(shifting(), nullptr)
                             ->generate(asking(long_text(24 << 20)), listener);
    engine.reset();
    request->cancel();
  }
  EXPECT_EQ(listener->wait().reason, RC_END_CANCELLED);
}

}  // namespace
}  // namespace rc::engine::test
