// Limits of tenants as engines keep them: who waits for how long, and who does
// not.
#include "engine/tenant.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "engine/account.h"
#include "engine/core.h"
#include "engine/engine_handle.h"
#include "engine_util.h"

namespace rc::engine::test {
namespace {

using namespace std::chrono_literals;
using Clock = Tenant::Clock;

// So slow that what is held up does not go on within a test.
constexpr double kSlow = 0.001;

Tenant::Rates generated(double per_minute,
                        std::chrono::duration<double> burst) {
  Tenant::Rates rates;
  rates.generated_tokens = per_minute;
  rates.burst = burst;
  return rates;
}

class TenantLimits : public testing::Test {
 protected:
  std::shared_ptr<Session> session(const std::shared_ptr<Account>& account) {
    return engine_->create_session({}, account);
  }

  std::shared_ptr<Engine> engine_ = load();
  std::shared_ptr<Account> limited_ = std::make_shared<Account>();
  std::shared_ptr<Account> free_ = std::make_shared<Account>();
};

TEST_F(TenantLimits, GenerationWaitsAndGoesOnWhenTheLimitIsRaised) {
  const RequestOptions options = greedy(some_tokens(5), 20);
  const Result expected = generate(*engine_, options);
  // 10 tokens at once, then none.
  limited_->tenant->set(generated(600 * kSlow, 1s / kSlow));
  auto listener = std::make_shared<TestListener>();
  const auto held = session(limited_);
  held->generate(options, listener);
  listener->wait_for_tokens(10);
  // Others go on: the limit is of the tenant, not of the engine.
  const auto other = session(free_);
  EXPECT_EQ(generate(*other, options).text, expected.text);
  EXPECT_EQ(limited_->meter.generated_tokens, 10u);
  limited_->tenant->set({});
  EXPECT_EQ(listener->wait().reason, RC_END_LENGTH);
  EXPECT_EQ(listener->text, expected.text);
}

TEST_F(TenantLimits, AWaitingRequestHeedsItsDeadlineAndItsEnd) {
  limited_->tenant->set(generated(60 * kSlow, 1s / kSlow));  // one token
  RequestOptions options = greedy(some_tokens(5), 20);
  options.deadline = Clock::now() + 100ms;
  const auto session = this->session(limited_);
  EXPECT_EQ(generate(*session, options).report.status, RC_E_DEADLINE);
  options.deadline.reset();
  auto listener = std::make_shared<TestListener>();
  const auto request = session->generate(options, listener);
  request->cancel();
  EXPECT_EQ(listener->wait().status, RC_E_CANCELLED);
}

TEST_F(TenantLimits, PromptsWaitForTheLimitOfPrompts) {
  Tenant::Rates rates;
  rates.prompt_tokens = 300 * kSlow;  // 5 at once
  rates.burst = 1s / kSlow;
  limited_->tenant->set(rates);
  // The first step begins with something left; the second prompt waits.
  const auto first = session(limited_);
  EXPECT_EQ(generate(*first, greedy(some_tokens(9, 1), 3)).report.status,
            RC_OK);
  auto listener = std::make_shared<TestListener>();
  const auto second = session(limited_);
  const auto request = second->generate(greedy(some_tokens(9, 2), 3), listener);
  EXPECT_EQ(limited_->meter.prompt_tokens, 9u);
  const auto exhausted = limited_->tenant->exhausted(Clock::now());
  ASSERT_TRUE(exhausted.has_value());
  EXPECT_EQ(exhausted->rate, Tenant::Rate::kPromptTokens);
  EXPECT_FALSE(limited_->tenant->exhausted_time(Clock::now()).has_value());
  // Tokens of the prefix cache do not count: what was evaluated is 9.
  limited_->tenant->set({});
  EXPECT_EQ(listener->wait().status, RC_OK);
}

TEST_F(TenantLimits, PromptsOfThePrefixCacheAreFree) {
  const RequestOptions options = greedy(some_tokens(40), 1);
  generate(*engine_, options);
  Tenant::Rates rates;
  rates.prompt_tokens = 60 * 20 * kSlow;  // 20 at once
  rates.burst = 1s / kSlow;
  limited_->tenant->set(rates);
  for (int i = 0; i < 3; ++i) {
    const auto session = this->session(limited_);
    const Result result = generate(*session, options);
    ASSERT_EQ(result.report.status, RC_OK);
    EXPECT_GT(result.report.cached_tokens, 30);
  }
}

TEST_F(TenantLimits, DevicesWaitForTheLimitOfTheirTime) {
  Tenant::Rates rates;
  rates.device_seconds = 1e-9;
  rates.burst = 1s;
  limited_->tenant->set(rates);
  auto listener = std::make_shared<TestListener>();
  const auto session = this->session(limited_);
  session->generate(greedy(some_tokens(5), 20), listener);
  // One step uses it up.
  listener->wait_for_tokens(1);
  const auto other = this->session(free_);
  EXPECT_EQ(generate(*other, greedy(some_tokens(5), 20)).report.status, RC_OK);
  EXPECT_EQ(limited_->meter.generated_tokens, 1u);
  EXPECT_TRUE(limited_->tenant->exhausted_time(Clock::now()).has_value());
  limited_->tenant->set({});
  EXPECT_EQ(listener->wait().status, RC_OK);
}

TEST_F(TenantLimits, ARateIsKept) {
  // 200 a second.
  limited_->tenant->set(generated(60 * 200, 20ms));
  const auto session = this->session(limited_);
  const auto began = Clock::now();
  EXPECT_EQ(generate(*session, greedy(some_tokens(5), 50)).report.status,
            RC_OK);
  const std::chrono::duration<double> took = Clock::now() - began;
  // 4 at once, the others one every 5 ms; a busy machine takes longer.
  EXPECT_GT(took.count(), 0.22);
}

TEST_F(TenantLimits, OthersGetThePagesOfThoseWhoWait) {
  EngineOptions options = small_options();
  options.cache_tokens = options.context_length;
  options.prefix_cache = false;
  engine_ = load(options);
  const auto most = static_cast<size_t>(options.context_length) - 10;
  const RequestOptions request = greedy(some_tokens(most), 5);
  const Result expected = generate(*engine_, request);
  limited_->tenant->set(generated(60 * kSlow, 1s / kSlow));
  auto listener = std::make_shared<TestListener>();
  const auto held = session(limited_);
  held->generate(request, listener);
  listener->wait_for_tokens(1);
  const auto other = session(free_);
  EXPECT_EQ(generate(*other, request).text, expected.text);
  limited_->tenant->set({});
  EXPECT_EQ(listener->wait().status, RC_OK) << listener->message;
  EXPECT_EQ(listener->text, expected.text);
}

// Prompts of others are cut into short steps while the tenant is there.
TEST_F(TenantLimits, AShortStallCutsAllPrompts) {
  const auto steps_of_prompt = [&](uint32_t seed) {
    const auto steps = [&] {
      uint64_t number = 0;
      static_cast<EngineHandle&>(*engine_).core()->call(
          [&](Core& core) { number = core.step_number(); });
      return number;
    };
    const uint64_t before = steps();
    const auto session = this->session(free_);
    generate(*session, greedy(some_tokens(40, seed), 1));
    return steps() - before;
  };
  // The engine learns how long rows take.
  EXPECT_LE(steps_of_prompt(1), 2u);
  limited_->tenant->max_stall = 1e-9;
  EXPECT_LE(steps_of_prompt(2), 2u);
  const auto session = this->session(limited_);
  EXPECT_GE(steps_of_prompt(3), 40u);
  limited_->tenant->max_stall = Tenant::kUsualStall;
  EXPECT_LE(steps_of_prompt(4), 2u);
  limited_->tenant->max_stall = 1e-9;
  limited_.reset();
  EXPECT_GE(steps_of_prompt(5), 40u);
}

TEST_F(TenantLimits, AccountsOfATenantShareItsLimits) {
  const auto second = std::make_shared<Account>(limited_->tenant);
  limited_->tenant->set(generated(60 * 6 * kSlow, 1s / kSlow));  // six
  const auto one = session(limited_);
  EXPECT_EQ(generate(*one, greedy(some_tokens(5), 6)).report.status, RC_OK);
  const auto exhausted = second->tenant->exhausted(Clock::now());
  ASSERT_TRUE(exhausted.has_value());
  EXPECT_EQ(exhausted->rate, Tenant::Rate::kGeneratedTokens);
  EXPECT_NEAR(exhausted->per_minute, 360 * kSlow, 1e-6);
}

TEST_F(TenantLimits, WeightsDivideTheTimeOfTheDevice) {
  EngineOptions options = small_options();
  options.max_rows = 16;
  options.prefix_cache = false;
  engine_ = load(options);
  limited_->tenant->weight = 3;
  std::vector<std::shared_ptr<Session>> sessions;
  std::vector<std::shared_ptr<Request>> requests;
  uint32_t seed = 0;
  for (const auto& account : {limited_, free_}) {
    for (int i = 0; i < 30; ++i) {
      sessions.push_back(session(account));
      requests.push_back(
          sessions.back()->generate(greedy(some_tokens(200, ++seed), 1),
                                    std::make_shared<TestListener>()));
    }
  }
  // All of them have prompts that wait.
  while (limited_->meter.prompt_tokens < 3000) std::this_thread::yield();
  const auto seconds = [](const std::shared_ptr<Account>& account) {
    return account->tenant->usage().at(0).devices.at(0).seconds;
  };
  // This takes some 50 ms, and a tenant may be ahead by more than a step.
  EXPECT_NEAR(seconds(limited_) / seconds(free_), 3.0, 1.0);
  for (const auto& request : requests) request->cancel();
}

TEST_F(TenantLimits, UsageIsCountedByModelAndDevice) {
  const auto one = session(limited_);
  generate(*one, greedy(some_tokens(12), 7));
  const std::vector<ModelUsage> usage = limited_->tenant->usage();
  ASSERT_EQ(usage.size(), 1u);
  EXPECT_EQ(usage[0].model, engine_->file().file().name());
  ASSERT_EQ(usage[0].devices.size(), 1u);
  EXPECT_EQ(usage[0].devices[0].device, "cpu:0");
  EXPECT_FALSE(usage[0].devices[0].is_gpu);
  EXPECT_GT(usage[0].devices[0].seconds, 0);
  EXPECT_EQ(usage[0].counts.requests, 1u);
  EXPECT_EQ(usage[0].counts.prompt_tokens, 12u);
  EXPECT_EQ(usage[0].counts.generated_tokens, 7u);
  uint64_t waits = 0;
  for (const uint64_t count : usage[0].waits.buckets) waits += count;
  EXPECT_EQ(waits, 1u);
}

// The time of steps that serve several tenants is divided; all of it together
// is what the device says that it has worked.
TEST_F(TenantLimits, TheTimeOfDevicesAddsUp) {
  const int64_t before = engine_->device()->worked_ns();
  std::vector<std::shared_ptr<Account>> accounts;
  std::vector<std::shared_ptr<Session>> sessions;
  std::vector<std::shared_ptr<TestListener>> listeners;
  for (uint32_t i = 0; i < 6; ++i) {
    accounts.push_back(std::make_shared<Account>());
    sessions.push_back(session(accounts.back()));
    listeners.push_back(std::make_shared<TestListener>());
    sessions.back()->generate(greedy(some_tokens(5 + i, i + 1), 10 + i),
                              listeners.back());
  }
  for (const auto& listener : listeners) listener->wait();
  double seconds = 0;
  for (const auto& account : accounts) {
    for (const ModelUsage& model : account->tenant->usage()) {
      seconds += model.devices.at(0).seconds;
    }
  }
  const double worked =
      static_cast<double>(engine_->device()->worked_ns() - before) * 1e-9;
  EXPECT_NEAR(seconds / worked, 1.0, 0.001);
}

TEST(WaitsTest, AreCountedUpToTheirBounds) {
  Waits waits;
  for (const double seconds : {0.0005, 0.001, 0.0011, 30.0, 31.0}) {
    waits.add(seconds);
  }
  EXPECT_EQ(waits.buckets[0], 2u);
  EXPECT_EQ(waits.buckets[1], 1u);
  EXPECT_EQ(waits.buckets[9], 1u);
  EXPECT_EQ(waits.buckets[10], 1u);
  EXPECT_DOUBLE_EQ(waits.seconds, 61.0026);
}

}  // namespace
}  // namespace rc::engine::test
