// Speed is not paid for with accuracy: with every type that can be encoded, at
// every level of instructions, the fable model finds text that it has not been
// trained on as likely as it does on the reference backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "converted_copy.h"
#include "labels.h"
#include "model/model_util.h"
#include "temporary.h"
#include "tensor/dtype.h"
#include "test_data.h"

namespace rc::test {
namespace {

using nlohmann::json;

// The tolerance of the perplexity, which is the exponential of the loss.
constexpr double kTolerance = 1e-3;

// Fables of seeds that training does not use, by the tokenizers library.
std::vector<std::vector<int32_t>> held_out() {
  const json records =
      json::parse(std::ifstream(source_path("tests/golden/fable/fable.json")));
  std::vector<std::vector<int32_t>> fables;
  for (size_t i = 0; i < 4; ++i) {
    std::vector<int32_t> tokens = {0};  // the token that texts begin with
    for (const json& id : records.at("texts").at(i).at("ids")) {
      tokens.push_back(id);
    }
    fables.push_back(std::move(tokens));
  }
  return fables;
}

// Nats per token.
double loss(model::ResidentModel& resident) {
  const auto vocabulary =
      static_cast<size_t>(resident.file().hyper_parameters().vocabulary);
  double nats = 0;
  size_t count = 0;
  for (const std::vector<int32_t>& tokens : held_out()) {
    const std::vector<float> logits = evaluate(resident, tokens);
    for (size_t i = 0; i + 1 < tokens.size(); ++i, ++count) {
      const float* row = logits.data() + i * vocabulary;
      const double largest = *std::max_element(row, row + vocabulary);
      double sum = 0;
      for (size_t j = 0; j < vocabulary; ++j) sum += std::exp(row[j] - largest);
      nats += largest + std::log(sum) - row[static_cast<size_t>(tokens[i + 1])];
    }
  }
  return nats / static_cast<double>(count);
}

class Perplexity : public testing::TestWithParam<DType> {};

TEST_P(Perplexity, MatchesTheReference) {
  RC_TEST_LABELS(kNumbers);
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "copy.gguf").string();
  write_converted_copy(source_path("examples/model/fable.gguf").string(), path,
                       GetParam());
  const auto file = model::ModelFile::open(path);
  const double expected = loss(*load(file, "reference"));
  // The model knows its language; perplexity per token is below 2.
  EXPECT_LT(expected, 0.7);
  for (const std::string& backend : cpu_backends()) {
    const double actual = loss(*load(file, backend));
    const double difference = std::exp(actual - expected) - 1;
    EXPECT_LT(std::abs(difference), kTolerance) << backend;
    std::cout << dtype_name(GetParam()) << " " << backend << ": "
              << std::exp(actual) << ", " << difference * 100
              << "% from the reference\n";
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Perplexity,
                         testing::Values(RC_DTYPE_F32, RC_DTYPE_F16,
                                         RC_DTYPE_BF16, RC_DTYPE_Q4_0,
                                         RC_DTYPE_Q4_1, RC_DTYPE_Q5_0,
                                         RC_DTYPE_Q5_1, RC_DTYPE_Q8_0,
                                         RC_DTYPE_Q4_K, RC_DTYPE_Q5_K,
                                         RC_DTYPE_Q6_K, RC_DTYPE_IQ4_NL),
                         [](const testing::TestParamInfo<DType>& type) {
                           return test_name(dtype_name(type.param));
                         });

}  // namespace
}  // namespace rc::test
