// Choosing a token from the logits of a large vocabulary, by the options.
//
//   sampling [Google Benchmark's flags]
//
// Each case is measured with logits of two kinds: "model" ones, of which few
// stand out by far, as when a model writes a text, and "even" ones, where
// thousands of tokens share the probability.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "engine/logprobs.h"
#include "engine/sampler.h"
#include "random.h"

namespace rc::bench {
namespace {

constexpr size_t kVocabulary = 151936;  // of Qwen2 and Qwen3

std::vector<float> even_logits() {
  Random random(1);
  std::vector<float> logits(kVocabulary);
  for (float& logit : logits) logit = 2.0f * random.normal();
  return logits;
}

std::vector<float> model_logits() {
  std::vector<float> logits = even_logits();
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    logits[random.below(kVocabulary)] = 18.0f - 0.06f * static_cast<float>(i);
  }
  return logits;
}

struct Case {
  const char* name;
  engine::SamplingOptions options;
};

std::vector<Case> cases() {
  engine::SamplingOptions off;
  off.seed = 1;
  off.temperature = 1.0f;
  off.top_k = 0;
  off.top_p = 1.0f;
  off.min_p = 0.0f;
  std::vector<Case> all;
  const auto add = [&](const char* name, auto change,
                       engine::SamplingOptions options) {
    options.seed = 1;
    change(options);
    all.push_back({name, options});
  };
  using O = engine::SamplingOptions;
  add("defaults", [](O&) {}, {});
  add("greedy", [](O& o) { o.temperature = 0.0f; }, {});
  add("penalties",
      [](O& o) {
        o.repetition_penalty = 1.1f;
        o.presence_penalty = 0.1f;
        o.frequency_penalty = 0.1f;
      },
      {});
  add("defaults without top_k", [](O& o) { o.top_k = 0; }, {});
  add(
      "temperature 1", [](O&) {}, off);
  add(
      "temperature 0.7", [](O& o) { o.temperature = 0.7f; }, off);
  add(
      "min_p 0.05", [](O& o) { o.min_p = 0.05f; }, off);
  add(
      "top_p 0.95", [](O& o) { o.top_p = 0.95f; }, off);
  add(
      "top_p 0.9, temperature 0.7",
      [](O& o) {
        o.top_p = 0.9f;
        o.temperature = 0.7f;
      },
      off);
  add(
      "typical 0.9", [](O& o) { o.typical_p = 0.9f; }, off);
  add(
      "top_n_sigma 1", [](O& o) { o.top_n_sigma = 1.0f; }, off);
  return all;
}

void choose(benchmark::State& state, const engine::SamplingOptions& options,
            const std::vector<float>& logits) {
  engine::Sampler sampler(options, logits.size());
  Random random(3);
  std::vector<engine::TokenId> history;
  for (int i = 0; i < 1000; ++i) {
    history.push_back(static_cast<engine::TokenId>(random.below(kVocabulary)));
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(sampler.choose(logits, history));
  }
}

void logprobs(benchmark::State& state, const std::vector<float>& logits) {
  std::vector<engine::TokenLogprob> top;
  for (auto _ : state) {
    top.clear();
    engine::Logprobs(logits).append_top(5, &top);
    benchmark::DoNotOptimize(top.data());
  }
}

void register_all(const char* kind, const std::vector<float>& logits) {
  const auto named = [&](const char* name) {
    return std::string(kind) + "/" + name;
  };
  for (const Case& one : cases()) {
    benchmark::RegisterBenchmark(
        named(one.name).c_str(),
        [options = one.options, &logits](benchmark::State& state) {
          choose(state, options, logits);
        })
        ->Unit(benchmark::kMicrosecond);
  }
  benchmark::RegisterBenchmark(
      named("logprobs of 5").c_str(),
      [&logits](benchmark::State& state) { logprobs(state, logits); })
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace
}  // namespace rc::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const std::vector<float> model = rc::bench::model_logits();
  const std::vector<float> even = rc::bench::even_logits();
  rc::bench::register_all("model", model);
  rc::bench::register_all("even", even);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
