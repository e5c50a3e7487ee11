// The logits of a sequence do not depend on other sequences, on how it is cut
// into batches, nor on its pages: bit for bit.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <tuple>

#include "base/error.h"
#include "labels.h"
#include "model/model_util.h"
#include "tensor/dtype.h"
#include "test_data.h"

namespace rc::test {
namespace {

// Any tokens will do; they differ from sequence to sequence.
std::vector<int32_t> some_tokens(size_t count, uint32_t seed) {
  std::vector<int32_t> tokens = {1};
  while (tokens.size() < count) {
    seed = seed * 1664525 + 1013904223;
    tokens.push_back(static_cast<int32_t>(3 + (seed >> 16) % 260));
  }
  return tokens;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

struct Kind {
  const char* model;
  DType cache;
};

using KindCase = std::tuple<std::string, Kind>;  // backend, model

std::ostream& operator<<(std::ostream& out, const Kind& kind) {
  return out << kind.model << " " << dtype_name(kind.cache);
}

std::string kind_case_name(const ::testing::TestParamInfo<KindCase>& info) {
  const auto& [backend, kind] = info.param;
  const std::string model = kind.model;
  return test_name(cat(backend, " ", model.substr(model.find('/') + 1), " ",
                       dtype_name(kind.cache)));
}

std::filesystem::path path_of(const std::string& model) {
  if (model == "fable") return source_path("examples/model/fable.gguf");
  return model.find('/') == std::string::npos
             ? source_path("tests/golden/architectures/" + model + ".gguf")
             : shared_path("models/" + model + ".gguf");
}

class Invariance : public ::testing::TestWithParam<KindCase> {
 protected:
  void SetUp() override {
    RC_TEST_LABELS(kNumbers);
    const auto path = path_of(std::get<1>(GetParam()).model);
    file_ = model::ModelFile::open(path.string());
    model_ = load_with(0);
  }
  std::unique_ptr<model::ResidentModel> load_with(int threads) {
    const auto& [backend, kind] = GetParam();
    return load(file_, backend, {.cache = kind.cache}, threads);
  }
  std::vector<float> alone(const std::vector<int32_t>& tokens) {
    return evaluate(*model_, tokens, 128);
  }
  std::shared_ptr<const model::ModelFile> file_;
  std::unique_ptr<model::ResidentModel> model_;
};

TEST_P(Invariance, LogitsDoNotDependOnChunks) {
  const std::vector<int32_t> tokens = some_tokens(100, 1);
  const std::vector<float> whole = alone(tokens);
  for (const size_t chunk : {1, 7, 64}) {
    EXPECT_TRUE(same_bits(evaluate(*model_, tokens, chunk), whole)) << chunk;
  }
}

TEST_P(Invariance, LogitsDoNotDependOnThreads) {
  const std::vector<int32_t> tokens = some_tokens(50, 5);
  const std::vector<float> expected = alone(tokens);
  for (const int threads : {1, 2, 3}) {
    EXPECT_TRUE(same_bits(evaluate(*load_with(threads), tokens, 17), expected))
        << threads;
  }
}

TEST_P(Invariance, LogitsDoNotDependOnOtherSequences) {
  std::vector<Sequence> sequences;
  std::vector<std::vector<float>> expected;
  for (int32_t i = 0; i < 9; ++i) {
    const size_t count = 1 + 11 * static_cast<size_t>(i);
    sequences.push_back({some_tokens(count, static_cast<uint32_t>(i)),
                         pages_from(i * 7, 7), 0});
    expected.push_back(alone(sequences.back().tokens));
  }
  for (const size_t chunk : {1, 5, 28}) {
    const auto together = evaluate(*model_, sequences, chunk);
    for (size_t i = 0; i < sequences.size(); ++i) {
      EXPECT_TRUE(same_bits(together[i], expected[i])) << i << ", " << chunk;
    }
  }
}

TEST_P(Invariance, LogitsDoNotDependOnPages) {
  const std::vector<int32_t> tokens = some_tokens(90, 2);
  const std::vector<float> expected = alone(tokens);
  const std::vector<int32_t> backwards = {63, 61, 59, 57, 3, 1};
  EXPECT_TRUE(
      same_bits(evaluate(*model_, {{tokens, backwards, 0}}, 13)[0], expected));
}

TEST_P(Invariance, LogitsDoNotDependOnTheRequestedRows) {
  const std::vector<int32_t> tokens = some_tokens(20, 3);
  const std::vector<float> all = alone(tokens);
  const size_t vocabulary = all.size() / tokens.size();

  model::Batch batch;
  batch.sequence_count = 1;
  batch.page_table = pages_from(0, 16);
  batch.state_slots = {-1, 0};
  for (int32_t p = 0; p < 20; ++p) {
    batch.tokens.push_back(tokens[static_cast<size_t>(p)]);
    batch.positions.push_back(p);
    batch.sequences.push_back(0);
    // Here short contexts are shorter.
    if (model_->short_context() > 0) batch.longer.push_back(1);
  }
  batch.output_rows = {19, 4};
  std::vector<float> logits(2 * vocabulary);
  model_->run(batch, logits.data(), nullptr, nullptr, -1);
  const float* row = logits.data();
  for (const size_t wanted : {19, 4}) {
    EXPECT_EQ(
        std::memcmp(row, &all[wanted * vocabulary], vocabulary * sizeof(float)),
        0);
    row += vocabulary;
  }
}

TEST_P(Invariance, LogitsDoNotDependOnPrefixesWithoutOutputs) {
  const std::vector<int32_t> tokens = some_tokens(40, 4);
  const std::vector<float> all = alone(tokens);
  const size_t vocabulary = all.size() / tokens.size();
  std::vector<float> logits(vocabulary);
  for (size_t done = 0; done < tokens.size(); done += 10) {
    model::Batch batch;
    batch.sequence_count = 1;
    batch.page_table = pages_from(20, 16);
    batch.state_slots = {done == 0 ? -1 : 20, 20};
    for (size_t p = done; p < done + 10; ++p) {
      batch.tokens.push_back(tokens[p]);
      batch.positions.push_back(static_cast<int32_t>(p));
      batch.sequences.push_back(0);
      if (model_->short_context() > 0) batch.longer.push_back(1);
    }
    if (done + 10 == tokens.size()) batch.output_rows = {9};
    model_->run(batch, logits.data(), nullptr, nullptr, -1);
  }
  EXPECT_EQ(std::memcmp(logits.data(), &all[39 * vocabulary],
                        vocabulary * sizeof(float)),
            0);
}

INSTANTIATE_TEST_SUITE_P(
    Reference, Invariance,
    ::testing::Combine(::testing::Values("reference"),
                       ::testing::Values(Kind{"gemma2", RC_DTYPE_F32},
                                         Kind{"qwen3moe", RC_DTYPE_F32})),
    kind_case_name);

std::vector<Kind> kinds() {
  std::vector<Kind> kinds = {
      {"gemma2", RC_DTYPE_F32},        {"gemma2", RC_DTYPE_F16},
      {"mistral", RC_DTYPE_F16},       {"qwen3moe", RC_DTYPE_F32},
      {"gpt-oss", RC_DTYPE_F32},       {"gpt-oss", RC_DTYPE_F16},
      {"gemma3", RC_DTYPE_F16},        {"llama-layers", RC_DTYPE_F32},
      {"llama3", RC_DTYPE_Q8_0},       {"fable", RC_DTYPE_F16},
      {"granitehybrid", RC_DTYPE_F16}, {"mamba2", RC_DTYPE_F16},
      {"phi3", RC_DTYPE_F16},          {"gptneox", RC_DTYPE_F32},
      {"glm4moe", RC_DTYPE_F16},       {"olmo3", RC_DTYPE_F32},
      {"deepseek2", RC_DTYPE_F32},     {"deepseek2", RC_DTYPE_F16},
      {"mpt", RC_DTYPE_F16},           {"llama4", RC_DTYPE_F16},
      {"lfm2moe", RC_DTYPE_F16},       {"mamba", RC_DTYPE_F16},
      {"falcon-h1", RC_DTYPE_F32},     {"qwen35moe", RC_DTYPE_F16},
      {"phimoe", RC_DTYPE_F16},        {"apertus", RC_DTYPE_F32},
      {"gemma4", RC_DTYPE_F16},        {"gemma4-moe", RC_DTYPE_F32},
      {"gemma3n", RC_DTYPE_F16},       {"minicpm3", RC_DTYPE_F32},
      {"rwkv6", RC_DTYPE_F16},         {"rwkv7", RC_DTYPE_F16},
      {"mimo2", RC_DTYPE_F16},         {"step35", RC_DTYPE_F16},
      {"minimax-01", RC_DTYPE_F16},    {"kimi-linear", RC_DTYPE_F16},
      {"laguna", RC_DTYPE_F16}};
  for (const char* shared :
       {"stories260K/stories260K", "stories260K-quants/stories260K-F16",
        "stories260K-quants/stories260K-Q8_0",
        "stories260K-quants/stories260K-Q4_0"}) {
    if (!path_of(shared).empty()) kinds.push_back({shared, RC_DTYPE_F16});
  }
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(Cpu, Invariance,
                         ::testing::Combine(::testing::ValuesIn(cpu_backends()),
                                            ::testing::ValuesIn(kinds())),
                         kind_case_name);

}  // namespace
}  // namespace rc::test
