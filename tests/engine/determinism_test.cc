// The output of a session does not depend on other sessions, on how its prompt
// was cut, on threads, the prefix cache, preemption, nor on saving: bit for
// bit.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <tuple>

#include "base/error.h"
#include "cpu/level.h"
#include "labels.h"
#include "session_util.h"

namespace rc::engine::test {
namespace {

using Case = std::tuple<std::string, std::string>;  // device, model

class Determinism : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const auto& [device, model] = GetParam();
    RC_TEST_LABELS(kNumbers);
    if (device == "reference") RC_TEST_LABELS(kSerial);
    if (model.starts_with("random ")) {
      for (DType dtype : {RC_DTYPE_F32, RC_DTYPE_F16, RC_DTYPE_Q8_0,
                          RC_DTYPE_Q4_K, RC_DTYPE_Q6_K}) {
        if (model.ends_with(dtype_name(dtype))) file_ = random_model(dtype);
      }
    } else {
      file_ = small_model(model);
    }
    EngineOptions options = small_options();
    options.prefix_cache = false;
    expected_ = play(*load(options), prompt_);
  }

  std::shared_ptr<Engine> load(const EngineOptions& options, int threads = 1) {
    return Engine::load(file_, open_device(std::get<0>(GetParam()), threads),
                        options, {});
  }

  std::shared_ptr<const model::ModelFile> file_;
  const std::vector<TokenId> prompt_ = some_tokens(150);
  Played expected_;
};

TEST_P(Determinism, DoesNotDependOnTheChunksOfThePrompt) {
  EngineOptions options = small_options();
  for (int64_t rows : {1, 7, 64}) {
    options.max_rows = rows;
    EXPECT_EQ(play(*load(options), prompt_), expected_) << rows;
  }
}

TEST_P(Determinism, DoesNotDependOnThreads) {
  EXPECT_EQ(play(*load(small_options(), 2), prompt_), expected_);
}

TEST_P(Determinism, DoesNotDependOnThePrefixCache) {
  const auto engine = load(small_options());
  EXPECT_EQ(play(*engine, prompt_), expected_);
  EXPECT_EQ(play(*engine, prompt_), expected_);
  const Result cached = generate(*engine, greedy(prompt_, 20));
  EXPECT_EQ(cached.report.cached_tokens, 128);
  EXPECT_EQ(cached.tokens, expected_.tokens);
}

TEST_P(Determinism, DoesNotDependOnFifteenOtherSessions) {
  EngineOptions options = small_options();
  options.max_rows = 32;
  const auto engine = load(options);
  std::vector<std::shared_ptr<Session>> sessions;
  std::vector<std::shared_ptr<Request>> requests;
  std::vector<std::shared_ptr<TestListener>> listeners;
  for (uint32_t i = 0; i < 15; ++i) {
    SessionOptions shifting;
    shifting.shift_when_full = true;
    sessions.push_back(engine->create_session(shifting, nullptr));
    listeners.push_back(std::make_shared<TestListener>());
    requests.push_back(sessions.back()->generate(
        greedy(some_tokens(3 + 10 * i, 100 + i), 1000000), listeners.back()));
  }
  EXPECT_EQ(play(*engine, prompt_), expected_);
  for (const auto& request : requests) request->cancel();
  for (const auto& listener : listeners) {
    EXPECT_EQ(listener->wait().reason, RC_END_CANCELLED);
  }
}

TEST_P(Determinism, SurvivesSaveAndRestore) {
  const auto engine = load(small_options());
  Played played;
  const auto session = engine->create_session({}, nullptr);
  played.before = hash_after(*session, prompt_);
  const std::vector<std::byte> bytes = session->save();
  const auto file = gguf::File::from_memory(nullptr, bytes, "saved");
  EngineOptions other = small_options();
  other.max_rows = 8;
  const auto restored =
      load(other)->restore_session(*file, SessionOptions(), nullptr);
  go_on(*restored, &played);
  EXPECT_EQ(played, expected_);
}

// Room for two sessions and six that want it: pages are taken from the young
// and the idle again and again.
TEST_P(Determinism, DoesNotDependOnPreemption) {
  for (const bool prefix_cache : {false, true}) {
    EngineOptions options = small_options();
    options.context_length = 192;
    options.cache_tokens = 2 * 192;
    options.max_rows = 48;
    options.prefix_cache = prefix_cache;
    const auto engine = load(options);
    std::vector<Played> played(6);
    std::vector<std::thread> threads;
    for (Played& one : played) {
      threads.emplace_back([&] { one = play(*engine, prompt_); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Played& one : played) EXPECT_EQ(one, expected_);
  }
}

TEST_P(Determinism, SurvivesForkAndTruncate) {
  const auto engine = load(small_options());
  Played played;
  const auto session = engine->create_session({}, nullptr);
  played.before = hash_after(*session, prompt_);
  const auto fork = session->fork();
  EXPECT_EQ(generate(*session, greedy(some_tokens(9, 5), 20)).report.status,
            RC_OK);
  go_on(*fork, &played);
  EXPECT_EQ(played, expected_);
  session->truncate(40);
  const std::vector<TokenId> rest(prompt_.begin() + 40, prompt_.end());
  played.before = hash_after(*session, rest);
  go_on(*session, &played);
  EXPECT_EQ(played, expected_);
}

// All logits at once are those of one token after the other.
TEST_P(Determinism, AllLogitsEqualThoseOfSingleTokens) {
  const auto engine = load(small_options());
  const auto all = engine->create_session({}, nullptr);
  all->append(prompt_);
  all->decode(true);
  const Session::Logits logits = all->logits();
  ASSERT_EQ(logits.rows, prompt_.size());
  const auto single = engine->create_session({}, nullptr);
  for (size_t i = 0; i < prompt_.size(); ++i) {
    single->append({prompt_[i]});
    single->decode(false);
    const Session::Logits one = single->logits();
    ASSERT_EQ(one.rows, 1u);
    ASSERT_TRUE(std::equal(one.data, one.data + one.vocabulary,
                           logits.data + i * logits.vocabulary))
        << i;
  }
}

std::vector<Case> cases() {
  std::vector<Case> all = {
      {"reference", "llama2"}, {"reference", "granitehybrid"},
      {"reference", "mamba2"}, {"reference", "deepseek2"},
      {"reference", "lfm2"},   {"reference", "jamba"},
      {"reference", "qwen35"}, {"reference", "rwkv7"}};
  for (const char* model :
       {"llama2",        "mistral",    "gemma2",     "qwen3",
        "qwen3moe",      "gpt-oss",    "gemma3",     "llama-layers",
        "granitehybrid", "mamba2",     "phi3",       "gptneox",
        "qwen2moe",      "cohere2",    "glm4moe",    "deepseek2",
        "deepseek2-old", "mpt",        "llama4",     "lfm2",
        "nemotron_h",    "falcon-h1",  "jamba",      "qwen3next",
        "qwen35",        "gemma4",     "gemma3n",    "dbrx",
        "minicpm",       "rwkv6",      "rwkv7",      "mimo2",
        "step35",        "minimax-01", "kimi-linear"}) {
    all.emplace_back("cpu", model);
  }
  for (const cpu::Level* level : cpu::available_levels()) {
    for (const char* dtype : {"F32", "F16", "Q8_0", "Q4_K", "Q6_K"}) {
      all.emplace_back(std::string("cpu/") + level->name,
                       std::string("random ") + dtype);
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Everywhere, Determinism, ::testing::ValuesIn(cases()),
                         [](const ::testing::TestParamInfo<Case>& info) {
                           return test_name(std::get<0>(info.param) + "_" +
                                            std::get<1>(info.param));
                         });

}  // namespace
}  // namespace rc::engine::test
