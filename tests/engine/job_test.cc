// Features of the engine thread that jobs do not use yet: rows that are
// verified and rolled back, and sampling that waits for another thread.
#include "engine/job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <future>
#include <mutex>
#include <numeric>
#include <thread>

#include "engine/core.h"
#include "engine/decoding.h"
#include "engine/plan.h"
#include "engine/sampler.h"
#include "engine/session_tokens.h"
#include "engine_util.h"

namespace rc::engine::test {
namespace {

// An engine thread whose jobs are the test's own.
class Thread {
 public:
  Thread(const EngineOptions& options, const std::string& model)
      : core_(make(options, model)), thread_([this] { core_->run(); }) {}
  ~Thread() {
    core_->commands()->stop();
    thread_.join();
  }
  Core& core() { return *core_; }

  std::shared_ptr<SessionState> session() {
    auto state = std::make_shared<SessionState>();
    state->options.context_length = core_->options().context_length;
    state->account = std::make_shared<Account>();
    state->home =
        std::make_shared<Home>(nullptr, core_->commands(), state->options);
    core_->prepare(*state);
    return state;
  }
  // Keeps the engine thread from everything else while `function` runs, so
  // that what it submits is there at the same time.
  template <class Function>
  void together(Function function) {
    std::promise<void> begun, done;
    std::thread blocker([&] {
      core_->call([&](Core&) {
        begun.set_value();
        done.get_future().wait();
      });
    });
    begun.get_future().wait();
    function();
    done.set_value();
    blocker.join();
  }

 private:
  static std::unique_ptr<Core> make(const EngineOptions& options,
                                    const std::string& model) {
    const auto file = small_model(model);
    Resolved resolved = resolve(*file, open_device(), options);
    auto resident = model::ResidentModel::load(
        file, std::move(resolved.placement), resolved.resident, {});
    return std::make_unique<Core>(std::move(resident), resolved.options);
  }

  std::unique_ptr<Core> core_;
  std::thread thread_;
};

class TestJob : public Job {
 public:
  TestJob(Thread& thread, std::vector<TokenId> prompt, size_t count)
      : Job(thread.session()), prompt_(std::move(prompt)), count_(count) {}

  std::optional<End> begin(Core& core) override {
    add_tokens(core.pages(), session(), prompt_, 1);
    wants_prefix = true;
    return std::nullopt;
  }
  bool decoding() const override { return !generated.empty(); }
  void ended(const End& end, const char* message) noexcept override {
    message_ = message;
    end_.set_value(end.status);
  }

  // Waits for the end. "" or what went wrong.
  std::string wait() {
    const rc_status status = end_.get_future().get();
    return status == RC_OK ? "" : message_;
  }

  // To be read after the end.
  std::vector<TokenId> generated;
  uint64_t steps = 0;

 protected:
  std::optional<End> count_steps(Core& core) {
    if (generated.size() < count_) return std::nullopt;
    steps = core.step_number();
    return End{RC_END_LENGTH, RC_OK};
  }

  const std::vector<TokenId> prompt_;
  const size_t count_;

 private:
  std::promise<rc_status> end_;
  std::string message_;
};

// Greedy, several tokens a step where the draft is right.
class Drafting final : public TestJob {
 public:
  // `draft` says what comes after so many generated tokens, right or wrong.
  using Draft = std::function<std::vector<TokenId>(size_t generated)>;
  Drafting(Thread& thread, std::vector<TokenId> prompt, size_t count,
           Draft draft = nullptr)
      : TestJob(thread, std::move(prompt), count), draft_(std::move(draft)) {}

  int64_t outputs() const override { return drafted_ + 1; }

  std::optional<End> take(Core& core, const RowLogits& logits) override {
    SessionState& state = session();
    const size_t vocabulary = core.vocabulary();
    for (int64_t row = 0; row < logits.count; ++row) {
      const auto values = logits.values.subspan(
          static_cast<size_t>(row) * vocabulary, vocabulary);
      const auto token = static_cast<TokenId>(
          std::max_element(values.begin(), values.end()) - values.begin());
      generated.push_back(token);
      const int64_t next = logits.begin + row + 1;
      if (drafted_ > 0) {
        EXPECT_EQ(next, state.size() - drafted_);
        --drafted_;
        if (state.items.tokens()[static_cast<size_t>(next)] == token) {
          ++accepted;
          if (auto end = count_steps(core)) return end;
          continue;
        }
        state.items.truncate(next);
        core.pages().truncate(state, next);
        drafted_ = 0;
      }
      EXPECT_EQ(next, state.size());
      state.items.append(token);
      if (auto end = count_steps(core)) return end;
      if (draft_) {
        for (const TokenId drafted : draft_(generated.size())) {
          state.items.append(drafted);
          ++drafted_;
        }
      }
      break;
    }
    return std::nullopt;
  }

  int64_t accepted = 0;

 private:
  const Draft draft_;
  int64_t drafted_ = 0;  // the last tokens of the session
};

class JobOf : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Models, JobOf,
                         testing::Values("llama2", "gemma2", "granitehybrid"),
                         [](const auto& info) { return info.param; });

TEST_P(JobOf, VerifiesDraftsAndRollsThemBack) {
  constexpr size_t kCount = 60;
  const std::vector<TokenId> prompt = some_tokens(40);
  const std::vector<TokenId> expected =
      generate(*load(small_options(), "cpu", 1, GetParam()),
               greedy(prompt, kCount))
          .tokens;
  // Four rows a step are fewer than some drafts and their token.
  for (const int64_t rows : {int64_t{64}, int64_t{4}}) {
    SCOPED_TRACE(rows);
    EngineOptions options = small_options();
    options.max_rows = rows;
    Thread thread(options, GetParam());
    const auto plain = std::make_shared<Drafting>(thread, prompt, kCount);
    plain->submit();
    ASSERT_EQ(plain->wait(), "");
    EXPECT_EQ(plain->generated, expected);
    // Returns 0 to 6 tokens, of which the fifth or the first is wrong.
    const auto draft = [&](size_t generated) {
      std::vector<TokenId> tokens;
      const size_t end = std::min(generated + generated % 7, kCount);
      for (size_t i = generated; i < end; ++i) {
        const bool wrong = i == generated + (generated % 3 == 0 ? 0 : 4);
        tokens.push_back(wrong ? (expected[i] + 1) % 200 : expected[i]);
      }
      return tokens;
    };
    const auto drafting =
        std::make_shared<Drafting>(thread, prompt, kCount, draft);
    drafting->submit();
    ASSERT_EQ(drafting->wait(), "");
    EXPECT_EQ(drafting->generated, expected);
    EXPECT_GT(drafting->accepted, 10);
    EXPECT_LT(drafting->steps - plain->steps, plain->steps);
  }
}

// Draws from tokens that another thread allows.
class Masked final : public TestJob {
 public:
  Masked(Thread& thread, std::vector<TokenId> prompt, size_t count)
      : TestJob(thread, std::move(prompt), count),
        sampler_(varied(), thread.core().vocabulary()) {}

  // Any thread: brings the mask of the next choice, of one bit in `one_in`.
  void allow(size_t one_in) {
    {
      const std::lock_guard lock(mutex_);
      masks_.push_back(one_in);
    }
    wake_engine();
  }

  bool ready() const noexcept override {
    const std::lock_guard lock(mutex_);
    return !begun || !masks_.empty();
  }
  void catch_up() noexcept override {
    if (by_itself) allow(brought_++ % 3 + 2);
  }

  bool by_itself = false;  // no other thread brings masks

  std::optional<End> take(Core& core, const RowLogits& logits) override {
    size_t one_in = 0;
    {
      const std::lock_guard lock(mutex_);
      one_in = masks_.front();
      masks_.pop_front();
    }
    std::vector<uint32_t> allowed(core.vocabulary() / 32 + 1);
    for (size_t i = 0; i < core.vocabulary(); i += one_in) {
      allowed[i / 32] |= uint32_t{1} << (i % 32);
    }
    SessionState& state = session();
    EXPECT_EQ(logits.begin + logits.count, state.size());
    generated.push_back(
        sampler_.choose(logits.values, state.items.tokens(), allowed));
    EXPECT_EQ(generated.back() % static_cast<TokenId>(one_in), 0);
    state.items.append(generated.back());
    state.changed();
    return count_steps(core);
  }

 private:
  static SamplingOptions varied() {
    SamplingOptions options;
    options.seed = 7;
    options.temperature = 2.0f;
    options.top_k = 0;
    return options;
  }

  Sampler sampler_;
  size_t brought_ = 0;
  mutable std::mutex mutex_;
  std::deque<size_t> masks_;
};

std::vector<TokenId> masked_alone(const std::vector<TokenId>& prompt,
                                  size_t count) {
  Thread thread(small_options(), "llama2");
  const auto job = std::make_shared<Masked>(thread, prompt, count);
  for (size_t i = 0; i < count; ++i) job->allow(i % 3 + 2);
  job->submit();
  EXPECT_EQ(job->wait(), "");
  return job->generated;
}

TEST(Job, SamplesOnceItsMaskIsReady) {
  const std::vector<TokenId> prompt = some_tokens(20);
  const std::vector<TokenId> expected = masked_alone(prompt, 12);
  Thread thread(small_options(), "llama2");
  const auto masked = std::make_shared<Masked>(thread, prompt, 12);
  masked->submit();
  for (size_t i = 0; i < 12; ++i) {
    // Others go on while there is no mask.
    const auto other =
        std::make_shared<Drafting>(thread, some_tokens(5, 50), 5);
    other->submit();
    ASSERT_EQ(other->wait(), "");
    EXPECT_EQ(other->generated.size(), 5u);
    masked->allow(i % 3 + 2);
  }
  EXPECT_EQ(masked->wait(), "");
  EXPECT_EQ(masked->generated, expected);
}

TEST(Job, MayComputeItsMaskItself) {
  const std::vector<TokenId> prompt = some_tokens(20);
  Thread thread(small_options(), "llama2");
  const auto masked = std::make_shared<Masked>(thread, prompt, 12);
  masked->by_itself = true;
  masked->submit();
  EXPECT_EQ(masked->wait(), "");
  EXPECT_EQ(masked->generated, masked_alone(prompt, 12));
}

TEST(Job, CanBeCancelledWhileWaitingForItsMask) {
  Thread thread(small_options(), "llama2");
  const auto masked =
      std::make_shared<Masked>(thread, some_tokens(20), size_t{2});
  masked->submit();
  masked->allow(2);
  masked->cancel_job();
  EXPECT_EQ(masked->wait(), "the request was cancelled");
}

// A job that waits holds pages that another one needs; what it keeps of its
// last step it does not need them for.
TEST(Job, GivesUpItsPagesWhileWaiting) {
  const std::vector<TokenId> prompt = some_tokens(150);
  const std::vector<TokenId> expected = masked_alone(prompt, 3);
  EngineOptions options = small_options();
  options.cache_tokens = options.context_length;
  options.prefix_cache = false;
  Thread thread(options, "llama2");
  const auto masked = std::make_shared<Masked>(thread, prompt, 3);
  masked->submit();
  for (size_t i = 0; i < 3; ++i) {
    const auto other =
        std::make_shared<Drafting>(thread, some_tokens(200, 50), 5);
    other->submit();
    ASSERT_EQ(other->wait(), "");
    masked->allow(i % 3 + 2);
  }
  EXPECT_EQ(masked->wait(), "");
  EXPECT_EQ(masked->generated, expected);
}

// A step has 64 outputs. All of them go to a decode of every row while the
// plan thinks that the prompt is not at its end yet, but the prefix cache has
// the most of it.
TEST(Job, StaysWithinTheOutputsOfAStep) {
  EngineOptions options = small_options();
  options.context_length = 1024;
  options.cache_tokens = 8 * 1024;
  options.max_rows = 512;
  Thread thread(options, "llama2");
  const std::vector<TokenId> prompt = some_tokens(700);
  const auto first = std::make_shared<Drafting>(thread, prompt, 3);
  first->submit();
  ASSERT_EQ(first->wait(), "");
  for (int i = 0; i < 5; ++i) {
    const auto session = thread.session();
    session->items.append(some_tokens(100, 9));
    const auto all = std::make_shared<Decoding>(session, true);
    const auto second = std::make_shared<Drafting>(thread, prompt, 3);
    thread.together([&] {
      all->submit();
      second->submit();
    });
    all->wait();
    ASSERT_EQ(second->wait(), "");
    EXPECT_EQ(second->generated, first->generated);
    EXPECT_EQ(session->logits_rows, 100u);
  }
}

}  // namespace
}  // namespace rc::engine::test
