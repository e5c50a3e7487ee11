// Every number of a model's metadata set to extremes: the file is refused with
// a message that names it, or what it describes can be loaded and evaluated.
#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "model/model_util.h"
#include "model/patient_util.h"

namespace rc::test {
namespace {

class HostileMetadata : public ::testing::TestWithParam<const char*> {
 protected:
  template <class Value>
  void try_value(const std::string& key, Value value) {
    SCOPED_TRACE(cat(key, " = ", value));
    Patient patient(GetParam());
    patient.set(key, value);
    try {
      const auto resident =
          load(model::ModelFile::from_gguf(patient.file()), "reference");
      EXPECT_EQ(evaluate(*resident, {1, 5, 7}).size(),
                3 * static_cast<size_t>(resident->file().output_size()));
      ++accepted_;
    } catch (const Error& error) {
      EXPECT_TRUE(error.status() == RC_E_FORMAT ||
                  error.status() == RC_E_UNSUPPORTED)
          << error.what();
      EXPECT_NE(error.message().find("patient.gguf"), std::string::npos)
          << error.what();
      ++refused_;
    }
  }
  int accepted_ = 0;
  int refused_ = 0;
};

TEST_P(HostileMetadata, ChangedValuesAreRefusedOrWork) {
  const auto file = Patient(GetParam()).file();
  const std::string prefix = cat(file->get_string("general.architecture"), ".");
  for (const gguf::Entry& entry : file->entries()) {
    const std::string key(entry.key);
    if (!key.starts_with(prefix)) continue;
    if (entry.type == gguf::ValueType::kU32) {
      const int64_t value = file->get_int(key);
      for (const int64_t other :
           {int64_t{0}, int64_t{1}, value - 1, value + 1, 2 * value,
            int64_t{65536}, int64_t{0x7FFFFFFF}, int64_t{0xFFFFFFFF}}) {
        try_value(key, static_cast<uint32_t>(other));
      }
      try_value(key, int32_t{-1});
      try_value(key, std::numeric_limits<int64_t>::min());
      try_value(key, std::numeric_limits<uint64_t>::max());
    } else if (entry.type == gguf::ValueType::kF32) {
      using Limits = std::numeric_limits<float>;
      for (const float other :
           {0.0f, -1.0f, 1.0f, 1e-30f, 1e30f, Limits::max(),
            Limits::denorm_min(), Limits::infinity(), Limits::quiet_NaN()}) {
        try_value(key, other);
      }
    }
    try_value(key, std::string("three"));
    try_value(key, true);
  }
  // Some values must be accepted, and many must be refused.
  EXPECT_GT(accepted_, 0);
  EXPECT_GT(refused_, 50);
}

// Keys that are missing from these files.
TEST_P(HostileMetadata, AddedKeysAreRefusedOrWork) {
  const std::string prefix =
      cat(Patient(GetParam()).file()->get_string("general.architecture"), ".");
  for (const char* name :
       {"expert_count", "expert_used_count", "attention.key_length",
        "attention.sliding_window", "vocab_size", "rope.dimension_count",
        "rope.scaling.original_context_length"}) {
    for (const uint32_t value : {0u, 1u, 2u, 65536u, 0xFFFFFFFFu}) {
      try_value(prefix + name, value);
    }
  }
  for (const char* type :
       {"none", "linear", "yarn", "llama3", "", "longrope"}) {
    try_value(prefix + "rope.scaling.type", std::string(type));
  }
  for (const char* name :
       {"rope.scale_linear", "rope.scaling.factor", "rope.scaling.attn_factor",
        "rope.scaling.yarn_ext_factor", "attn_logit_softcapping"}) {
    for (const float value : {0.0f, -1.0f, 2.0f, 1e30f}) {
      try_value(prefix + name, value);
    }
  }
  EXPECT_GT(accepted_, 0);
  EXPECT_GT(refused_, 20);
}

INSTANTIATE_TEST_SUITE_P(
    Architectures, HostileMetadata,
    ::testing::Values("llama2", "llama3", "llama-yarn", "mixtral", "qwen3moe",
                      "gemma2", "gpt-oss", "gemma3", "llama-layers",
                      "granitehybrid", "bert", "mamba2", "stablelm", "glm4moe",
                      "cohere2", "deepseek2", "deepseek2-old", "mpt", "llama4",
                      "lfm2", "nemotron_h", "jamba", "qwen3next", "phi3-long",
                      "modern-bert", "gemma4", "gemma4-moe", "gemma3n", "rwkv6",
                      "rwkv7", "granite-swa", "falcon-mamba", "exaone-moe",
                      "bitnet", "gpt-neo", "qwen3vl", "mimo2", "step35",
                      "deepseek32", "minimax-01", "kimi-linear", "cohere2moe",
                      "dots3note", "laguna"),
    [](const auto& info) {
      std::string name = info.param;
      std::erase(name, '-');
      return name;
    });

}  // namespace
}  // namespace rc::test
