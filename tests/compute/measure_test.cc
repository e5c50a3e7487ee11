// Measuring devices.
#include "compute/measure.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "api/tensor_util.h"
#include "base/error.h"
#include "compute/measure_cases.h"
#include "runtime/registry.h"
#include "runtime/wrapped_plugin.h"
#include "temporary.h"

namespace rc::test {
namespace {

using Json = nlohmann::json;

runtime::DeviceOptions one_thread() {
  runtime::DeviceOptions options;
  options.threads = 1;
  return options;
}

class Measure : public testing::Test {
 protected:
  const TemporaryFolder folder_;
  const TemporaryVariable cache_{"XDG_CACHE_HOME", folder_.path().string()};
};

TEST_F(Measure, EveryFamilyHasACase) {
  std::array<int, kOpFamilies> cases = {};
  for (const compute::MeasureCase& one : compute::measure_cases()) {
    ++cases[static_cast<size_t>(one.family)];
    EXPECT_TRUE(std::is_sorted(one.sizes.begin(), one.sizes.end()));
  }
  for (size_t i = 0; i < kOpFamilies; ++i) {
    EXPECT_EQ(cases[i], 1) << op_family_name(static_cast<OpFamily>(i));
  }
}

TEST_F(Measure, MeasuresEveryFamilyOnTheCpu) {
  const auto device = runtime::select({"cpu", 0, one_thread()}).device;
  double last = -1;
  const runtime::Calibration found =
      compute::measure(device, [&](double fraction) {
        EXPECT_GE(fraction, last);
        EXPECT_LE(fraction, 1);
        last = fraction;
        return true;
      });
  EXPECT_EQ(last, 1);
  // A busy machine is slow by any factor, and none is faster than this.
  EXPECT_GT(found.launch, 1e-9);
  EXPECT_GT(found.bandwidth, 0);
  EXPECT_LT(found.bandwidth, 1e14);
  for (const double rate : found.multiplying) {
    EXPECT_GT(rate, 0);
    EXPECT_LT(rate, 1e14);
  }
  EXPECT_FALSE(found.upload.empty());
  EXPECT_FALSE(found.download.empty());
  for (size_t i = 0; i < kOpFamilies; ++i) {
    EXPECT_FALSE(found.lacking[i]);
    EXPECT_GE(found.families[i].points().size(), 3u)
        << op_family_name(static_cast<OpFamily>(i));
    // A thousand times the work takes longer, whatever else runs.
    const auto& points = found.families[i].points();
    EXPECT_GT(points.back().seconds, points.front().seconds);
  }
}

TEST_F(Measure, RecordsUnsupportedFamilies) {
  WrappedState& state = wrap_backend("narrow", "cpu");
  state.missing_ops = {RC_OP_MATMUL, RC_OP_CONV2D};
  const runtime::Calibration found =
      compute::measure(open_wrapped("narrow"), {});
  for (size_t i = 0; i < kOpFamilies; ++i) {
    const auto family = static_cast<OpFamily>(i);
    const bool unsupported =
        (family >= OpFamily::kProductsF32 && family <= OpFamily::kDepthwise);
    EXPECT_EQ(found.lacking[i], unsupported) << op_family_name(family);
    EXPECT_EQ(found.families[i].empty(), unsupported);
  }
}

TEST_F(Measure, CanBeCancelled) {
  const auto device = runtime::select({"cpu", 0, one_thread()}).device;
  try {
    compute::measure(device, [](double fraction) { return fraction < 0.2; });
    FAIL() << "it went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_CANCELLED);
  }
}

TEST_F(Measure, CalibratesAChain) {
  wrap_backend("narrow", "cpu");
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.threads = 1;
  int calls = 0;
  const auto count = [](void* user, double) -> int32_t {
    ++*static_cast<int*>(user);
    return 0;
  };
  char* text = nullptr;
  ASSERT_OK(rc_calibrate("cpu,narrow", &options, count, &calls, &text));
  const Json found = Json::parse(text);
  rc_free(text);
  EXPECT_GT(calls, 10);
  ASSERT_EQ(found.at("devices").size(), 2u);
  for (const Json& device : found.at("devices")) {
    EXPECT_TRUE(device.at("failure").is_null());
    EXPECT_TRUE(device.at("measured").get<bool>());
    EXPECT_GT(device.at("launch_seconds").get<double>(), 0);
  }
  EXPECT_FALSE(std::filesystem::is_empty(folder_.path() / "runcible"));
  const auto cancel = [](void*, double) -> int32_t { return 1; };
  EXPECT_FAILS(RC_E_CANCELLED,
               rc_calibrate("cpu", &options, cancel, nullptr, nullptr));
  EXPECT_FAILS(RC_E_NOT_FOUND,
               rc_calibrate("nobody", nullptr, nullptr, nullptr, nullptr),
               "nobody");
}

// A device that takes long for everything is measured in the background when
// ops are first shared out, and then left alone.
TEST_F(Measure, AHandleMeasuresInTheBackground) {
  WrappedState& slow = wrap_backend("slow", "cpu");
  slow.on_run = [](const rc_plugin_run&, char*, const auto& inner) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return inner();
  };
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.threads = 1;
  options.placement = RC_PLACEMENT_EACH_OP;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open("slow,cpu", &options, &opened));
  const Backend backend(opened);
  const Tensor a = make_random(opened, {64, 64}, 1);
  const auto measured = [&] {
    rc_tensor* result = nullptr;
    EXPECT_OK(rc_op_add(a.get(), a.get(), &result));
    const Tensor sum(result);
    const char* device = "";
    EXPECT_OK(rc_tensor_device(result, &device));
    EXPECT_STREQ(device, "cpu:0");
    const char* text = nullptr;
    EXPECT_OK(rc_backend_explain(opened, &text));
    const Json account = Json::parse(text);
    const Json& devices = account.at("tensors").at("devices");
    return devices[0].at("measured").get<bool>() &&
           devices[1].at("measured").get<bool>();
  };
  EXPECT_FALSE(measured());
  const auto late = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (!measured() && std::chrono::steady_clock::now() < late) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_TRUE(measured());
  const char* text = nullptr;
  ASSERT_OK(rc_backend_explain(opened, &text));
  const Json account = Json::parse(text);
  EXPECT_GT(
      account.at("tensors").at("devices")[0].at("launch_seconds").get<double>(),
      1.9e-3);
}

}  // namespace
}  // namespace rc::test
