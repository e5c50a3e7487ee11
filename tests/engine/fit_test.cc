// What is chosen so that a model fits. The wrapped devices compute what the cpu
// computes, so that texts stay the same wherever layers and experts lie.
#include "engine/fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/cat.h"
#include "base/error.h"
#include "base/log.h"
#include "engine_util.h"
#include "expect_error.h"
#include "model/sketch.h"
#include "runtime/wrapped_plugin.h"

namespace rc::engine::test {
namespace {

using rc::test::expect_error_with;
using rc::test::open_wrapped;
using rc::test::wrap_backend;
using rc::test::WrappedState;
using runtime::DeviceChain;

// A model whose cache can be Q8_0, trained for long contexts. There is no file
// of it.
std::shared_ptr<const model::ModelFile> sketched() {
  const char* const hyper_parameters =
      R"({"architecture": "llama", "vocab_size": 300, "context_length": 16384,
          "block_count": 4, "embedding_length": 64, "feed_forward_length": 128,
          "attention.head_count": 2,
          "attention.layer_norm_rms_epsilon": 1e-5})";
  return model::ModelFile::open(
      model::sketch_file(hyper_parameters, "F32", std::nullopt), std::nullopt,
      "");
}

EngineOptions options_for(int64_t context) {
  EngineOptions options;
  options.context_length = options.cache_tokens = context;
  options.max_rows = 32;
  options.fit = true;
  return options;
}

std::vector<TokenId> text_of(Engine& engine) {
  const auto session = engine.create_session({}, nullptr);
  const Result result = generate(*session, greedy(some_tokens(20), 10));
  EXPECT_EQ(result.report.status, RC_OK) << result.message;
  return result.tokens;
}

class Fit : public ::testing::Test {
 protected:
  Fit() {
    small_.free_memory = 0;
    large_.free_memory = 0;
  }
  DeviceChain small_and(std::vector<std::string> next) {
    return DeviceChain(open_wrapped("small"), std::move(next), false);
  }
  uint64_t total(const model::ModelFile& file, EngineOptions options) {
    options.fit = false;
    options.experts_on.clear();
    return plan(file, open_device(), options).memory.total();
  }

  WrappedState& small_ = wrap_backend("small", "cpu");
  WrappedState& large_ = wrap_backend("large", "cpu");
  const std::shared_ptr<const model::ModelFile> dense_ = small_model("gemma2");
  const std::shared_ptr<const model::ModelFile> mixture_ =
      small_model("qwen3moe");
};

TEST_F(Fit, WithMemoryEnoughNothingIsChosen) {
  for (const auto& file : {dense_, mixture_}) {
    EngineOptions options = options_for(128);
    options.fits_cache_dtype = true;
    const Plan fitted = plan(*file, small_and({"cpu"}), options);
    ASSERT_EQ(fitted.memory.devices.size(), 1u);
    EXPECT_EQ(fitted.memory.total(), total(*file, options));
    EXPECT_EQ(fitted.memory.devices[0].expert_layers, 0);
    EXPECT_EQ(fitted.context_length, 128);
    EXPECT_EQ(fitted.cache_dtype, RC_DTYPE_F16);
  }
}

TEST_F(Fit, TheContextShrinksBeforeAnythingMoves) {
  const auto file = sketched();
  EngineOptions options = options_for(10000);
  options.memory_limit = total(*file, options);
  options.context_length = options.cache_tokens = 0;
  const Plan fitted = plan(*file, small_and({"large", "cpu"}), options);
  ASSERT_EQ(fitted.memory.devices.size(), 1u);
  EXPECT_GE(fitted.context_length, 10000);
  EXPECT_LT(fitted.context_length, 10100);
  // But not below 4096.
  options = options_for(4000);
  options.memory_limit = total(*file, options);
  options.context_length = options.cache_tokens = 0;
  const Plan spread = plan(*file, small_and({"large", "cpu"}), options);
  ASSERT_EQ(spread.memory.devices.size(), 2u);
  EXPECT_EQ(spread.memory.devices[1].device->id(), "large:0");
  EXPECT_EQ(spread.context_length, 4096);
}

TEST_F(Fit, LayersGoToOtherDevicesBeforeTheCpu) {
  EngineOptions options = options_for(128);
  options.memory_limit = total(*dense_, options) * 3 / 4;
  for (const auto& file : {dense_, mixture_}) {
    options.memory_limit = total(*file, options) * 3 / 4;
    const DeviceChain chain = small_and({"large", "cpu"});
    const auto engine = Engine::load(file, chain, options, {});
    const auto& devices = engine->memory().devices;
    ASSERT_EQ(devices.size(), 2u);
    EXPECT_GT(devices[0].layers, 0);
    EXPECT_EQ(devices[1].device->id(), "large:0");
    EXPECT_TRUE(devices[1].output);
    EXPECT_EQ(devices[1].expert_layers, 0);
    options.memory_limit = 0;
    EXPECT_EQ(text_of(*engine),
              text_of(*Engine::load(file, open_device(), options, {})));
  }
}

// With less and less memory the experts of more layers go there, and then
// layers.
TEST_F(Fit, ExpertsOfAsFewLayersAsPossibleGoToTheCpu) {
  const DeviceChain chain = small_and({"cpu"});
  EngineOptions options = options_for(128);
  const auto layers =
      static_cast<int64_t>(mixture_->hyper_parameters().layers.size());
  const auto expected =
      text_of(*Engine::load(mixture_, open_device(), options, {}));
  const uint64_t all = total(*mixture_, options);
  std::set<int64_t> seen;
  for (int share = 63; share > 0; --share) {
    options.memory_limit = all * static_cast<uint64_t>(share) / 64;
    const Plan fitted = plan(*mixture_, chain, options);
    ASSERT_TRUE(fitted.fits) << share;
    ASSERT_EQ(fitted.memory.devices.size(), 2u);
    const model::DeviceMemory& first = fitted.memory.devices[0];
    const model::DeviceMemory& cpu = fitted.memory.devices[1];
    EXPECT_LE(first.total(), options.memory_limit);
    if (cpu.output) continue;
    EXPECT_EQ(first.layers, layers);
    ASSERT_GT(cpu.expert_layers, 0);
    // One fewer would not do.
    EngineOptions fewer = options;
    fewer.fit = false;
    if (cpu.expert_layers > 1) {
      fewer.experts_on = "cpu";
      fewer.experts_on_layers = cpu.expert_layers - 1;
    }
    EXPECT_FALSE(plan(*mixture_, small_and({}), fewer).fits) << share;
    if (!seen.insert(cpu.expert_layers).second) continue;
    const auto engine = Engine::load(mixture_, chain, options, {});
    EXPECT_EQ(engine->memory().total(), fitted.memory.total());
    EXPECT_EQ(text_of(*engine), expected);
  }
  EXPECT_EQ(std::ssize(seen), layers);
}

// Where experts go to the CPU, it has less to read than with layers in place of
// them: all of a layer is read for each token, of its experts a few.
TEST_F(Fit, TheCpuHasTheLeastToRead) {
  const auto planned = [&](int64_t vocabulary) {
    const auto file = model::ModelFile::open(
        model::sketch_file(
            cat(R"({"architecture": "qwen3moe", "context_length": 64,
                    "vocab_size": )",
                vocabulary, R"(, "block_count": 2,
                    "embedding_length": 64, "feed_forward_length": 128,
                    "expert_feed_forward_length": 64, "expert_count": 8,
                    "expert_used_count": 2, "attention.head_count": 2,
                    "attention.layer_norm_rms_epsilon": 1e-5})"),
            "F32", std::nullopt),
        std::nullopt, "");
    EngineOptions options = options_for(64);
    options.memory_limit = total(*file, options) - 1;
    return plan(*file, small_and({"cpu"}), options).memory.devices.at(1);
  };
  // Of a layer's experts a quarter is read: 3 x 64 x 64 x 2 x 4 bytes. The
  // output matrix has 64 x 4 bytes for each token of the vocabulary.
  const model::DeviceMemory small_output = planned(300);
  EXPECT_TRUE(small_output.output);
  EXPECT_EQ(small_output.expert_layers, 0);
  const model::DeviceMemory large_output = planned(500);
  EXPECT_FALSE(large_output.output);
  EXPECT_EQ(large_output.expert_layers, 1);
}

TEST_F(Fit, ThePlaceOfExpertsThatIsSetStays) {
  EngineOptions options = options_for(128);
  options.experts_on = "small";
  options.memory_limit = total(*mixture_, options) * 3 / 4;
  const Plan fitted = plan(*mixture_, small_and({"cpu"}), options);
  EXPECT_GT(fitted.memory.devices[0].expert_layers, 0);
  EXPECT_EQ(fitted.memory.devices[1].expert_layers, 0);
  EXPECT_TRUE(fitted.memory.devices[1].output);
}

TEST_F(Fit, TheTypeOfTheCacheIsLast) {
  const auto file = sketched();
  EngineOptions options = options_for(8192);
  const uint64_t as_f16 = total(*file, options);
  options.cache_dtype = RC_DTYPE_Q8_0;
  const uint64_t as_q8 = total(*file, options);
  options.cache_dtype = RC_DTYPE_F16;
  options.memory_limit = (as_f16 + as_q8) / 2;
  EXPECT_FALSE(plan(*file, small_and({}), options).fits);
  options.fits_cache_dtype = true;
  const Plan spread = plan(*file, small_and({"cpu"}), options);
  EXPECT_TRUE(spread.fits);
  EXPECT_EQ(spread.cache_dtype, RC_DTYPE_F16);
  EXPECT_EQ(spread.memory.devices.size(), 2u);

  const Plan alone = plan(*file, small_and({}), options);
  EXPECT_TRUE(alone.fits);
  EXPECT_EQ(alone.cache_dtype, RC_DTYPE_Q8_0);
  EXPECT_EQ(alone.memory.total(), as_q8);
}

TEST_F(Fit, AShortContextIsTakenIfNoneIsLonger) {
  const auto file = sketched();
  EngineOptions options = options_for(512);
  options.memory_limit = total(*file, options);
  options.context_length = options.cache_tokens = 0;
  const Plan as_set = plan(*file, small_and({}), options);
  EXPECT_TRUE(as_set.fits);
  EXPECT_EQ(as_set.context_length, 512);
  options.fits_cache_dtype = true;
  const Plan longer = plan(*file, small_and({}), options);
  EXPECT_TRUE(longer.fits);
  EXPECT_EQ(longer.cache_dtype, RC_DTYPE_Q8_0);
  EXPECT_GT(longer.context_length, 512);
}

// Its heads are too small for the other type of the cache.
TEST_F(Fit, WhatNeverFitsIsRefusedWithOffers) {
  EngineOptions options = options_for(128);
  options.fits_cache_dtype = true;
  options.memory_limit = total(*mixture_, options) * 3 / 4;
  expect_error_with(
      RC_E_DEVICE_MEMORY, {"small:0", "what would fit", "experts_on cpu"},
      [&] { Engine::load(mixture_, small_and({}), options, {}); });
}

// However many places are tried.
TEST_F(Fit, EachDeviceIsOpenedOnce) {
  std::vector<std::string> messages;
  set_log(
      [](void* user, rc_log_level, const char* message) {
        static_cast<std::vector<std::string>*>(user)->emplace_back(message);
      },
      &messages, RC_LOG_WARNING);
  EngineOptions options = options_for(128);
  options.memory_limit = total(*mixture_, options) / 2;
  const Plan fitted = plan(*mixture_, small_and({"nothere", "cpu"}), options);
  set_log(nullptr, nullptr, RC_LOG_NONE);
  EXPECT_TRUE(fitted.fits);
  EXPECT_EQ(fitted.memory.devices.size(), 2u);
  EXPECT_EQ(std::ranges::count_if(messages,
                                  [](const std::string& message) {
                                    return message.find("nothere") !=
                                           std::string::npos;
                                  }),
            1);
}

TEST_F(Fit, WrongOptionsAreErrors) {
  EngineOptions options = options_for(128);
  options.experts_on = "nothere";
  EXPECT_THROW(plan(*mixture_, small_and({"cpu"}), options), Error);
  options = options_for(1);
  EXPECT_THROW(plan(*dense_, small_and({"cpu"}), options), Error);
}

}  // namespace
}  // namespace rc::engine::test
