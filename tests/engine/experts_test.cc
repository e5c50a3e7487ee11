// Experts of a mixture that are not where the rest of their layers is, as plans
// and loads see them.
#include <gtest/gtest.h>

#include "base/error.h"
#include "engine_util.h"
#include "expect_error.h"
#include "runtime/wrapped_plugin.h"

namespace rc::engine::test {
namespace {

using rc::test::error_of;
using rc::test::expect_error;
using runtime::DeviceChain;

// The model is a mixture whose tokens use few of its experts.
TEST(Experts, PlansOfferToLeaveThemMapped) {
  const auto file = small_model("deepseek2");
  const auto device = open_device();
  EngineOptions options;
  options.context_length = options.cache_tokens = 32;
  options.memory_limit =
      engine::plan(*file, device, options).memory.total() - 1;
  const Plan plan = engine::plan(*file, device, options);
  ASSERT_FALSE(plan.fits);
  const auto offers = engine::offers(*file, device, options, plan);
  const Offer* offer = find_offer(offers, "experts_mapped");
  ASSERT_NE(offer, nullptr);
  EXPECT_GT(offer->mapped, 0u);
  options.experts_mapped = true;
  const Plan mapped = engine::plan(*file, device, options);
  EXPECT_TRUE(mapped.fits);
  EXPECT_EQ(mapped.memory.total(), offer->total);
  EXPECT_TRUE(engine::offers(*file, device, options, mapped).empty());
  EXPECT_THROW(engine::plan(*small_model(), device, options), Error);
}

TEST(Experts, PlansOfferToComputeThemOnTheCpu) {
  const auto file = small_model("qwen3moe");
  const auto device = open_device("reference");
  EngineOptions options;
  options.context_length = options.cache_tokens = 32;
  options.max_rows = 16;  // or activations would be more than the experts
  options.memory_limit =
      engine::plan(*file, device, options).memory.total() - 1;
  const Plan plan = engine::plan(*file, device, options);
  ASSERT_FALSE(plan.fits);
  const auto offers = engine::offers(*file, device, options, plan);
  const Offer* offer = find_offer(offers, "experts_on");
  ASSERT_NE(offer, nullptr);
  EXPECT_EQ(offer->value, "cpu");
  options.experts_on = offer->value;
  const Plan elsewhere = engine::plan(*file, device, options);
  EXPECT_TRUE(elsewhere.fits);
  EXPECT_EQ(elsewhere.memory.total(), offer->total);
  ASSERT_EQ(elsewhere.memory.devices.size(), 2u);
  EXPECT_GT(elsewhere.memory.devices[1].expert_layers, 0);
  EXPECT_TRUE(engine::offers(*file, device, options, elsewhere).empty());
}

// Without room for the experts more layers fit on the first device.
TEST(Experts, LayersWithoutThemTakeLess) {
  const auto file = small_model("qwen3moe");
  const DeviceChain chain(open_device("reference"), {"cpu:0"}, false);
  EngineOptions options;
  options.context_length = options.cache_tokens = 32;
  const uint64_t all = engine::plan(*file, chain, options).memory.total();
  options.memory_limit = all * 2 / 3;
  const auto layers = [&] {
    return engine::plan(*file, chain, options).memory.devices[0].layers;
  };
  const int64_t with_experts = layers();
  options.experts_on = "cpu";
  EXPECT_GT(layers(), with_experts);
}

TEST(Experts, LieOnADeviceOfTheChain) {
  const auto file = small_model("qwen3moe");
  const DeviceChain chain(open_device("reference"), {"cpu:0"}, false);
  EngineOptions options;
  options.context_length = options.cache_tokens = 32;
  for (const char* spec : {"cpu", "CPU:0", "reference:0", "Reference"}) {
    options.experts_on = spec;
    EXPECT_TRUE(engine::plan(*file, chain, options).fits) << spec;
  }
  for (const char* spec : {"cpu:1", "opencl", "reference,cpu", "auto"}) {
    options.experts_on = spec;
    expect_error(RC_E_INVALID_ARGUMENT,
                 std::string("experts_on is '") + spec +
                     "', but it can be \"cpu\" or one of this backend's "
                     "devices: reference:0, cpu:0",
                 [&] { engine::plan(*file, chain, options); });
  }
}

TEST(Experts, AreSharedByChainsThatHaveTheirDevice) {
  rc::test::wrap_backend("small", "cpu");
  const auto file = small_model("qwen3moe");
  EngineOptions options = small_options();
  options.experts_on = "small";
  const auto load = [&](std::vector<std::string> next) {
    return Engine::load(
        file, DeviceChain(open_device("reference"), next, false), options, {});
  };
  const auto engine = load({"small"});
  options.experts_on = "SMALL:0";
  EXPECT_EQ(load({"small"}), engine);
  // What another chain has loaded does not allow it.
  EXPECT_EQ(error_of([&] { load({}); }).status(), RC_E_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace rc::engine::test
