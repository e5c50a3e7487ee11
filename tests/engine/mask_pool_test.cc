// Masks of one tenant hold up no one else: slices, turns, threads.
#include "engine/mask_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <latch>
#include <thread>

#include "base/error.h"
#include "engine_util.h"
#include "text/grammar/hard_cases.h"

namespace rc::engine::test {
namespace {

using text::grammar::Grammar;
using text::grammar::Matcher;
using text::grammar::TokenMask;
using text::grammar::VocabularyIndex;
using text::grammar::Work;
using Slice = SlicedTask::Slice;

// A task that calls a function for each slice.
class Task final : public SlicedTask {
 public:
  explicit Task(std::function<Slice(uint64_t steps)> slice)
      : slice_(std::move(slice)) {}

  Slice run_slice(uint64_t steps, bool) noexcept override {
    return slice_(steps);
  }
  void report_done() noexcept override { done_.count_down(); }
  void wait() { done_.wait(); }

 private:
  std::function<Slice(uint64_t)> slice_;
  std::latch done_{1};
};

// Counts the slices of a tenant that run at a time.
class Count {
 public:
  void enter() {
    const int now = ++now_;
    int most = most_;
    while (now > most && !most_.compare_exchange_weak(most, now)) {
    }
  }
  void leave() { --now_; }
  int most() const { return most_; }

 private:
  std::atomic<int> now_{0};
  std::atomic<int> most_{0};
};

TEST(MaskPool, TenantHasOneRunningSlice) {
  const auto pool = std::make_shared<MaskPool>();
  constexpr int kTenants = 3;
  Count counts[kTenants];
  std::vector<std::shared_ptr<Task>> tasks;
  for (int i = 0; i < 60; ++i) {
    const int tenant = i % kTenants;
    auto left = std::make_shared<int>(i % 4);
    tasks.push_back(std::make_shared<Task>([&, tenant, left](uint64_t) {
      counts[tenant].enter();
      std::this_thread::yield();
      counts[tenant].leave();
      return (*left)-- == 0 ? Slice::kDone : Slice::kMore;
    }));
    ASSERT_TRUE(pool->post(tasks.back(), &counts[tenant]));
  }
  for (const auto& task : tasks) task->wait();
  for (const Count& count : counts) EXPECT_EQ(count.most(), 1);
}

// While a slice of one tenant does not end, another's tasks are all done.
TEST(MaskPool, BlockedTenantDelaysNoOther) {
  const auto pool = std::make_shared<MaskPool>();
  const int hostile = 0;
  const int other = 0;
  std::latch release(1);
  Count count;
  std::vector<std::shared_ptr<Task>> blocked;
  for (int i = 0; i < 8; ++i) {
    blocked.push_back(std::make_shared<Task>([&](uint64_t) {
      count.enter();
      release.wait();
      count.leave();
      return Slice::kDone;
    }));
    ASSERT_TRUE(pool->post(blocked.back(), &hostile));
  }
  for (int i = 0; i < 20; ++i) {
    const auto task =
        std::make_shared<Task>([](uint64_t) { return Slice::kDone; });
    ASSERT_TRUE(pool->post(task, &other));
    task->wait();
  }
  release.count_down();
  for (const auto& task : blocked) task->wait();
  EXPECT_EQ(count.most(), 1);
}

TEST(MaskPool, SlicesGrowAndTenantsTakeTurns) {
  const auto pool = std::make_shared<MaskPool>();
  const int endless = 0;
  std::vector<uint64_t> slices;
  std::atomic<bool> end{false};
  const auto task = std::make_shared<Task>([&](uint64_t steps) {
    if (slices.size() < 8) slices.push_back(steps);
    std::this_thread::yield();
    return end ? Slice::kDone : Slice::kMore;
  });
  ASSERT_TRUE(pool->post(task, &endless));
  // Tasks of many other slow tenants.
  std::vector<std::shared_ptr<Task>> others;
  std::vector<int> tenants(20);
  for (int& tenant : tenants) {
    others.push_back(std::make_shared<Task>([](uint64_t steps) {
      return steps > MaskPool::kFirstSlice * 4 ? Slice::kDone : Slice::kMore;
    }));
    ASSERT_TRUE(pool->post(others.back(), &tenant));
  }
  for (const auto& other : others) other->wait();
  end = true;
  task->wait();
  ASSERT_GE(slices.size(), 1u);
  for (size_t i = 0; i < slices.size(); ++i) {
    EXPECT_EQ(slices[i], MaskPool::kFirstSlice << i);
  }
}

TEST(MaskPool, RunHereReturnsIfATaskOfTheTenantRuns) {
  const auto pool = std::make_shared<MaskPool>();
  const int tenant = 0;
  std::latch begun(1);
  std::latch release(1);
  const auto first = std::make_shared<Task>([&](uint64_t) {
    begun.count_down();
    release.wait();
    return Slice::kDone;
  });
  std::atomic<int> runs{0};
  const auto second = std::make_shared<Task>([&](uint64_t) {
    ++runs;
    return Slice::kDone;
  });
  ASSERT_TRUE(pool->post(first, &tenant));
  begun.wait();
  ASSERT_TRUE(pool->post(second, &tenant));
  // It is not the tenant's turn.
  pool->run_here(*second, &tenant);
  EXPECT_EQ(runs, 0);
  release.count_down();
  second->wait();
  EXPECT_EQ(runs, 1);
}

TEST(MaskPool, CanBeDestroyedWithUnfinishedTasks) {
  std::vector<std::shared_ptr<Task>> tasks;
  const int tenant = 0;
  {
    const auto pool = std::make_shared<MaskPool>();
    for (int i = 0; i < 5; ++i) {
      tasks.push_back(
          std::make_shared<Task>([](uint64_t) { return Slice::kMore; }));
      ASSERT_TRUE(pool->post(tasks.back(), &tenant));
    }
  }
  for (const auto& task : tasks) EXPECT_EQ(task.use_count(), 1);
}

// A grammar of one text after another, whose work is a function.
class Injected final : public Grammar {
 public:
  enum class Function { kMask, kForced, kAccept, kComplete };
  using Do = std::function<void(Function)>;

  Injected(std::shared_ptr<const Grammar> inner, Do work)
      : inner_(std::move(inner)), do_(std::move(work)) {}

  const Vocabulary& vocabulary() const override { return inner_->vocabulary(); }
  std::unique_ptr<Matcher> match() const override {
    return std::make_unique<Follower>(inner_->match(), do_);
  }

 private:
  class Follower final : public Matcher {
   public:
    Follower(std::unique_ptr<Matcher> inner, Do work)
        : inner_(std::move(inner)), do_(std::move(work)) {}
    const VocabularyIndex& vocabulary() const override {
      return inner_->vocabulary();
    }
    Work& work() override { return inner_->work(); }
    const TokenMask& mask() override {
      call(Function::kMask);
      return inner_->mask();
    }
    bool accept(int32_t token) override {
      call(Function::kAccept);
      return inner_->accept(token);
    }
    bool accept_bytes(std::string_view bytes) override {
      return inner_->accept_bytes(bytes);
    }
    void rollback(size_t tokens) override { inner_->rollback(tokens); }
    bool can_end() const override { return inner_->can_end(); }
    bool complete() override {
      call(Function::kComplete);
      return inner_->complete();
    }
    bool ended() const override { return inner_->ended(); }
    std::string forced() override {
      call(Function::kForced);
      return inner_->forced();
    }
    std::unique_ptr<Matcher> clone() const override {
      return std::make_unique<Follower>(inner_->clone(), do_);
    }

   private:
    void call(Function function) {
      Work::Call call(&inner_->work());
      do_(function);
    }

    std::unique_ptr<Matcher> inner_;
    Do do_;
  };

  std::shared_ptr<const Grammar> inner_;
  Do do_;
};

class Tenants : public ::testing::Test {
 protected:
  std::shared_ptr<const Grammar> regex(std::string_view pattern) const {
    return Grammar::regex(pattern, {},
                          engine_->file().tokenizer()->grammar_vocabulary());
  }
  static RequestOptions under(std::shared_ptr<const Grammar> grammar,
                              int64_t tokens = 40) {
    RequestOptions options;
    options.prompt = "Once upon a time";
    options.max_tokens = tokens;
    options.sampling.seed = 7;
    options.sampling.temperature = 1.0f;
    options.grammar = std::move(grammar);
    return options;
  }
  std::shared_ptr<Session> session(const std::shared_ptr<Account>& account) {
    return engine_->create_session({}, account);
  }
  // All tokens of another tenant, with a grammar and without one.
  void expect_others_generate() {
    for (const bool constrained : {true, false, true}) {
      const Result result =
          generate(*session(std::make_shared<Account>()),
                   under(constrained ? regex("[a-z ]{200,}") : nullptr, 30));
      EXPECT_EQ(result.report.status, RC_OK) << result.message;
      EXPECT_GT(result.report.generated_tokens, 0);
    }
  }

  const std::shared_ptr<Engine> engine_ = Engine::load(
      model::ModelFile::open(
          rc::test::source_path("examples/model/fable.gguf").string()),
      open_device(), {}, {});
  const std::shared_ptr<Account> hostile_ = std::make_shared<Account>();
};

// Masks of one tenant that do not end at all.
TEST_F(Tenants, GenerateWhileMasksOfAnotherAreBlocked) {
  std::latch release(1);
  Count count;
  const auto grammar = std::make_shared<Injected>(
      regex("[a-z ]{20}"), [&](Injected::Function function) {
        if (function != Injected::Function::kMask) return;
        count.enter();
        release.wait();
        count.leave();
      });
  // A request that is alone computes its mask on the engine thread, so there
  // is another that is not.
  std::vector<std::shared_ptr<TestListener>> listeners;
  const auto busy = std::make_shared<TestListener>();
  Hold hold(2);
  busy->on_piece = [&](const Piece&) { hold.piece(); };
  const auto running =
      session(std::make_shared<Account>())->generate(under(nullptr, -1), busy);
  hold.wait();
  for (int i = 0; i < 6; ++i) {
    listeners.push_back(std::make_shared<TestListener>());
    session(hostile_)->generate(under(grammar), listeners.back());
  }
  hold.release();
  expect_others_generate();
  running->cancel();
  release.count_down();
  for (const auto& listener : listeners) {
    EXPECT_EQ(listener->wait().status, RC_OK) << listener->message;
  }
  EXPECT_EQ(count.most(), 1);
  busy->wait();
}

// Work without an end, wherever a grammar has it, is postponed on the engine
// thread, goes on in slices, and ends with its request.
TEST_F(Tenants, GenerateWhileMasksOfAnotherNeverEnd) {
  using Function = Injected::Function;
  for (const Function endless : {Function::kMask, Function::kForced,
                                 Function::kAccept, Function::kComplete}) {
    for (const bool late : {false, true}) {
      SCOPED_TRACE(cat("function ", static_cast<int>(endless), late));
      // Outlives the test: a slice may go on after its request has ended.
      struct Seen {
        std::atomic<int> calls{0};
        std::atomic<uint64_t> steps{0};
        std::latch reached{1};
      };
      const auto seen = std::make_shared<Seen>();
      const auto grammar = std::make_shared<Injected>(
          regex("[a-z ]{200,}"), [=](Function function) {
            if (function != endless || ++seen->calls < (late ? 4 : 1)) return;
            // As a search does that starts again: it never gets to its end.
            seen->calls = 4;
            for (;;) {
              Work::walk(100);
              if ((seen->steps += 100) == 3'000) seen->reached.count_down();
              std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
          });
      const auto listener = std::make_shared<TestListener>();
      const auto request =
          session(hostile_)->generate(under(grammar), listener);
      seen->reached.wait();
      expect_others_generate();
      request->cancel();
      EXPECT_EQ(listener->wait().reason, RC_END_CANCELLED) << listener->message;

      RequestOptions options = under(grammar);
      options.deadline =
          std::chrono::steady_clock::now() + std::chrono::milliseconds(30);
      EXPECT_EQ(generate(*session(hostile_), options).report.reason,
                RC_END_DEADLINE);
    }
  }
}

// The text of a tenant is the same while another one uses hard grammars.
TEST_F(Tenants, TextDoesNotDependOnHardGrammarsOfOthers) {
  const auto grammar = regex("[a-z ]{40,60}");
  const Result alone =
      generate(*session(std::make_shared<Account>()), under(grammar, 100));
  ASSERT_EQ(alone.report.status, RC_OK) << alone.message;
  size_t refused = 0;
  size_t begun = 0;
  for (const auto& one : rc::test::hard_cases()) {
    SCOPED_TRACE(one.name);
    std::shared_ptr<const Grammar> hard;
    try {
      hard = rc::test::compile(
          one, engine_->file().tokenizer()->grammar_vocabulary());
    } catch (const Error&) {
      ++refused;
      continue;
    }
    ++begun;
    std::vector<std::shared_ptr<TestListener>> listeners;
    std::vector<std::shared_ptr<Request>> requests;
    for (uint64_t seed = 0; seed < 3; ++seed) {
      RequestOptions options = under(hard, 60);
      options.sampling.seed = seed;
      listeners.push_back(std::make_shared<TestListener>());
      requests.push_back(
          session(hostile_)->generate(options, listeners.back()));
    }
    const Result shared =
        generate(*session(std::make_shared<Account>()), under(grammar, 100));
    EXPECT_EQ(shared.tokens, alone.tokens);
    EXPECT_EQ(shared.text, alone.text);
    for (const auto& request : requests) request->cancel();
    for (const auto& listener : listeners) {
      const rc_status status = listener->wait().status;
      EXPECT_TRUE(status == RC_OK || status == RC_E_CANCELLED ||
                  status == RC_E_UNSUPPORTED)
          << listener->message;
    }
  }
  EXPECT_GT(refused, 3u);
  EXPECT_GT(begun, 10u);
}

// A request ends where its text takes too much work, and says so; the session
// and the other requests go on.
TEST_F(Tenants, GrammarWorkOfATextIsLimited) {
  std::atomic<int> calls{0};
  const auto grammar = std::make_shared<Injected>(
      regex("[a-z ]{200,}"), [&](Injected::Function function) {
        if (function != Injected::Function::kMask || ++calls < 5) return;
        for (uint64_t done = 0; done < 100'000'000; done += 1000) {
          Work::build(1000);
        }
      });
  const auto target = session(hostile_);
  const Result result = generate(*target, under(grammar));
  EXPECT_EQ(result.report.reason, RC_END_ERROR);
  EXPECT_EQ(result.report.status, RC_E_UNSUPPORTED);
  EXPECT_NE(result.message.find("steps of work"), std::string::npos)
      << result.message;
  EXPECT_GE(result.report.generated_tokens, 4);
  EXPECT_EQ(generate(*target, under(regex("[a-z ]{9}"))).report.status, RC_OK);
  expect_others_generate();
}

}  // namespace
}  // namespace rc::engine::test
