// Handles that choose a device for each op, through the C ABI: a device of the
// tests computes as the CPU does, and claims speeds.
#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "api/tensor_util.h"
#include "runtime/calibrations.h"
#include "runtime/registry.h"
#include "runtime/wrapped_plugin.h"
#include "temporary.h"

namespace rc::test {
namespace {

using Json = nlohmann::json;
using runtime::Calibration;
using runtime::Curve;

constexpr const char* kFast = "fast";
constexpr int64_t kLarge = 256;  // a product of this side is worth the way

runtime::ReportedDevice reported(const char* name) {
  return runtime::reported_devices(*runtime::PluginList::instance().find(name))
      .devices.at(0);
}

Calibration cpu_of_the_tests() {
  Calibration device;
  device.launch = 1e-6;
  device.bandwidth = 10e9;
  device.multiplying = {10e9, 10e9, 10e9};
  device.upload = device.download = Curve::line(1e-7, 10e9);
  return device;
}

Calibration claimed() {
  Calibration device;
  device.launch = 20e-6;
  device.bandwidth = 1e12;
  device.multiplying = {10e12, 10e12, 10e12};
  device.upload = device.download = Curve::line(10e-6, 20e9);
  return device;
}

class EachOp : public testing::Test {
 protected:
  void SetUp() override {
    runtime::keep_calibration(reported("cpu"), 1, cpu_of_the_tests());
    runtime::keep_calibration(reported(kFast), 1, claimed());
  }

  Backend open(const char* spec = "cpu,fast", int32_t strict = 0,
               uint64_t memory_limit = 0) {
    rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
    options.threads = 1;
    options.strict = strict;
    options.memory_limit = memory_limit;
    options.placement = RC_PLACEMENT_EACH_OP;
    options.measure = 0;
    rc_backend* opened = nullptr;
    EXPECT_OK(rc_backend_open(spec, &options, &opened));
    return Backend(opened);
  }

  static std::string device_of(rc_tensor* tensor) {
    const char* device = "";
    EXPECT_OK(rc_tensor_device(tensor, &device));
    return device;
  }
  static Tensor outline(rc_backend* backend, const Shape& shape) {
    rc_tensor* made = nullptr;
    EXPECT_OK(rc_tensor_outline(backend, RC_DTYPE_F32, shape.data(),
                                static_cast<int32_t>(shape.size()), &made));
    return Tensor(made);
  }
  static Tensor product(rc_tensor* a, rc_tensor* b) {
    rc_tensor* made = nullptr;
    EXPECT_OK(rc_op_matmul(a, b, &made));
    return Tensor(made);
  }
  static Tensor sum(rc_tensor* a, rc_tensor* b) {
    rc_tensor* made = nullptr;
    EXPECT_OK(rc_op_add(a, b, &made));
    return Tensor(made);
  }
  static Tensor to(rc_tensor* tensor, rc_backend* backend, const char* device) {
    rc_tensor* made = nullptr;
    EXPECT_OK(rc_tensor_to(tensor, backend, device, &made));
    return Tensor(made);
  }
  static Json choice_of(rc_tensor* result) {
    char* text = nullptr;
    EXPECT_OK(rc_op_choose(result, &text));
    Json json = Json::parse(text == nullptr ? "{}" : text);
    rc_free(text);
    return json;
  }
  static Json explain(rc_backend* backend) {
    const char* text = "{}";
    EXPECT_OK(rc_backend_explain(backend, &text));
    return Json::parse(text).at("tensors");
  }
  // Returns the result of the CPU alone.
  static std::vector<float> expected_product(int64_t side) {
    rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
    options.threads = 1;
    rc_backend* opened = nullptr;
    EXPECT_OK(rc_backend_open("cpu", &options, &opened));
    const Backend backend(opened);
    const Tensor a = make_random(opened, {side, side}, 1);
    return numbers_of(product(a.get(), a.get()).get());
  }

  const TemporaryFolder folder_;
  const TemporaryVariable cache_{"XDG_CACHE_HOME", folder_.path().string()};
  WrappedState& fast_ = wrap_backend(kFast, "cpu");
};

TEST_F(EachOp, SmallWorkStaysOnTheCpuAndLargeWorkMoves) {
  const Backend backend = open();
  const Tensor small = make_random(backend.get(), {4, 4}, 1);
  EXPECT_EQ(device_of(small.get()), "cpu:0");
  const int before = fast_.runs;
  EXPECT_EQ(device_of(product(small.get(), small.get()).get()), "cpu:0");
  EXPECT_EQ(fast_.runs, before);

  const Tensor large = make_random(backend.get(), {kLarge, kLarge}, 1);
  const Tensor result = product(large.get(), large.get());
  EXPECT_EQ(device_of(result.get()), "fast:0");
  EXPECT_EQ(fast_.runs, before + 1);
  EXPECT_EQ(numbers_of(result.get()), expected_product(kLarge));
}

TEST_F(EachOp, NextOpRunsWhereTheResultIs) {
  const Backend backend = open();
  const Tensor large = make_random(backend.get(), {kLarge, kLarge}, 1);
  const Tensor there = product(large.get(), large.get());
  // On its own the sum would not be worth the way.
  EXPECT_EQ(device_of(sum(large.get(), large.get()).get()), "cpu:0");
  const Tensor sums = sum(there.get(), there.get());
  EXPECT_EQ(device_of(sums.get()), "fast:0");
  std::vector<float> expected = expected_product(kLarge);
  for (float& number : expected) number *= 2;
  EXPECT_EQ(numbers_of(sums.get()), expected);
}

TEST_F(EachOp, OutlinesShowTheChoiceBeforeComputing) {
  const Backend backend = open();
  const int before = fast_.runs;
  const Tensor a = outline(backend.get(), {kLarge, kLarge});
  const Tensor c = product(a.get(), a.get());
  EXPECT_EQ(device_of(c.get()), "fast:0");
  const Json choice = choice_of(c.get());
  EXPECT_EQ(choice.at("op"), "MATMUL");
  EXPECT_EQ(choice.at("device"), "fast:0");
  ASSERT_EQ(choice.at("candidates").size(), 2u);
  const Json& cpu = choice.at("candidates")[0];
  EXPECT_EQ(cpu.at("device"), "cpu:0");
  EXPECT_NEAR(cpu.at("seconds").get<double>(), 1e-6 + 16777216 / 10e9, 1e-8);
  EXPECT_EQ(cpu.at("transfer_seconds"), 0);
  const Json& fast = choice.at("candidates")[1];
  const double bytes = 4.0 * kLarge * kLarge;
  EXPECT_NEAR(fast.at("transfer_seconds").get<double>(),
              2 * (1e-7 + bytes / 10e9 + 10e-6 + bytes / 20e9), 1e-9);
  EXPECT_NEAR(fast.at("compute_seconds").get<double>(),
              20e-6 + 16777216 / 10e12, 1e-9);
  // A real tensor together with an outline, and an outline on another device.
  const Tensor b = make_random(backend.get(), {kLarge, kLarge}, 1);
  EXPECT_EQ(choice_of(sum(a.get(), b.get()).get()).at("device"), "cpu:0");
  EXPECT_EQ(choice_of(sum(c.get(), b.get()).get()).at("device"), "fast:0");
  const Tensor there = to(b.get(), nullptr, "fast");
  EXPECT_EQ(choice_of(sum(a.get(), there.get()).get()).at("op"), "BINARY");
  EXPECT_EQ(fast_.runs, before);

  EXPECT_FAILS(
      RC_E_INVALID_ARGUMENT,
      rc_tensor_read(c.get(),
                     const_cast<float*>(std::vector<float>(65536).data()),
                     4 * 65536),
      "outline");
  char* text = nullptr;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_op_choose(b.get(), &text),
               "rc_tensor_outline");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_op_choose(a.get(), &text), "no op");
  rc_tensor* none = nullptr;
  EXPECT_FAILS(
      RC_E_INVALID_ARGUMENT,
      rc_op_matmul(a.get(), outline(backend.get(), {3, 4}).get(), &none),
      "[256, 256]", "[3, 4]");
}

TEST_F(EachOp, TensorsAreMoved) {
  const Backend backend = open();
  const Tensor a = make(backend.get(), {2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor there = to(a.get(), nullptr, "fast:0");
  EXPECT_EQ(device_of(there.get()), "fast:0");
  EXPECT_EQ(numbers_of(there.get()), numbers_of(a.get()));
  // A view, to another handle, which has one device.
  rc_tensor* view = nullptr;
  ASSERT_OK(rc_tensor_transpose(there.get(), 0, 1, &view));
  const Tensor transposed(view);
  const Backend other = open_backend("reference");
  const Tensor away = to(view, other.get(), nullptr);
  EXPECT_EQ(device_of(away.get()), "reference:0");
  EXPECT_EQ(numbers_of(away.get()), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  const Tensor home = to(away.get(), backend.get(), "");
  EXPECT_EQ(device_of(home.get()), "cpu:0");
  EXPECT_EQ(numbers_of(home.get()), numbers_of(away.get()));
  // A tensor that is on the device already.
  EXPECT_EQ(numbers_of(to(a.get(), nullptr, nullptr).get()),
            numbers_of(a.get()));
  const Tensor nothing = make(backend.get(), {0, 3}, {});
  EXPECT_EQ(device_of(to(nothing.get(), nullptr, "fast").get()), "fast:0");

  rc_tensor* none = nullptr;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_tensor_to(a.get(), nullptr, "vulkan:7", &none), "vulkan:7",
               "cpu:0, fast:0");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_tensor_to(a.get(), other.get(), "cpu", &none), "cpu",
               "reference:0 alone");
}

TEST_F(EachOp, TensorsAreMovedAsynchronously) {
  const Backend backend = open();
  const Tensor a = make(backend.get(), {3}, {1, 2, 3});
  struct End {
    std::atomic<int> calls{0};
    rc_status status = RC_E_INTERNAL;
    rc_tensor* moved = nullptr;
  } end;
  rc_loop* created = nullptr;
  ASSERT_OK(rc_loop_create(&created));
  const Loop loop(created);
  ASSERT_OK(rc_tensor_to_async(
      a.get(), nullptr, "fast", created,
      [](void* user, rc_status status, const char*, rc_tensor* moved) {
        auto* to = static_cast<End*>(user);
        to->status = status;
        to->moved = moved;
        ++to->calls;
      },
      &end));
  while (end.calls == 0) {
    ASSERT_OK(rc_loop_wait(created, 1000));
    ASSERT_OK(rc_loop_dispatch(created, 10, nullptr));
  }
  ASSERT_EQ(end.status, RC_OK);
  const Tensor moved(end.moved);
  EXPECT_EQ(device_of(moved.get()), "fast:0");
  EXPECT_EQ(numbers_of(moved.get()), (std::vector<float>{1, 2, 3}));
  EXPECT_FAILS(
      RC_E_INVALID_ARGUMENT,
      rc_tensor_to_async(a.get(), nullptr, "fast", created, nullptr, nullptr),
      "callback");
}

TEST_F(EachOp, UnsupportedOpsRunOnAnotherDevice) {
  fast_.missing_ops = {RC_OP_MATMUL};
  const Backend backend = open();
  const Tensor large = make_random(backend.get(), {kLarge, kLarge}, 1);
  const Tensor result = product(large.get(), large.get());
  EXPECT_EQ(device_of(result.get()), "cpu:0");
  EXPECT_EQ(numbers_of(result.get()), expected_product(kLarge));
  // Even with operands there, and although it is strict.
  const Backend strict = open("cpu,fast", 1);
  const Tensor there =
      to(make_random(strict.get(), {kLarge, kLarge}, 1).get(), nullptr, "fast");
  EXPECT_EQ(device_of(product(there.get(), there.get()).get()), "cpu:0");
}

TEST_F(EachOp, WithoutMeasurementsWorkDoesNotMove) {
  const Backend backend = open("reference,fast");  // the former is not measured
  const Tensor large = make_random(backend.get(), {kLarge, kLarge}, 1);
  EXPECT_EQ(device_of(large.get()), "reference:0");
  EXPECT_EQ(device_of(sum(large.get(), large.get()).get()), "reference:0");
  const Tensor there = to(large.get(), nullptr, "fast");
  EXPECT_EQ(device_of(sum(there.get(), there.get()).get()), "fast:0");
  const Tensor a = outline(backend.get(), {2});
  const Json choice = choice_of(sum(a.get(), a.get()).get());
  EXPECT_EQ(choice.at("device"), "reference:0");
  EXPECT_TRUE(choice.at("candidates")[0].at("seconds").is_null());
  EXPECT_NE(choice.at("candidates")[0].at("reason").get<std::string>().find(
                "rc_calibrate"),
            std::string::npos);
}

TEST_F(EachOp, NothingIsOpenedBeforeItIsNeeded) {
  const Backend backend = open();
  const Tensor small = make_random(backend.get(), {4, 4}, 1);
  static_cast<void>(product(small.get(), small.get()));
  const auto is_open = [&](size_t i) {
    return explain(backend.get()).at("devices")[i].at("open").get<bool>();
  };
  EXPECT_TRUE(is_open(0));
  EXPECT_FALSE(is_open(1));
  const Tensor large = make_random(backend.get(), {kLarge, kLarge}, 1);
  static_cast<void>(product(large.get(), large.get()));
  EXPECT_TRUE(is_open(1));
}

TEST_F(EachOp, IsExplained) {
  const Backend backend = open();
  const Tensor large = make_random(backend.get(), {kLarge, kLarge}, 1);
  static_cast<void>(product(large.get(), large.get()));
  const Json account = explain(backend.get());
  EXPECT_EQ(account.at("home"), "cpu:0");
  const Json& fast = account.at("devices")[1];
  EXPECT_EQ(fast.at("id"), "fast:0");
  EXPECT_TRUE(fast.at("failure").is_null());
  EXPECT_NEAR(fast.at("launch_seconds").get<double>(), 20e-6, 1e-12);
  EXPECT_NEAR(fast.at("upload_bytes_per_second").get<double>(), 20e9, 1);
  const Json& choice = account.at("choices")[0];
  EXPECT_EQ(choice.at("op"), "MATMUL");
  EXPECT_EQ(choice.at("device"), "fast:0");
  EXPECT_GT(choice.at("candidates")[0].at("seconds").get<double>(),
            choice.at("candidates")[1].at("seconds").get<double>());
  // Handles with one device have no choice to explain.
  const Backend other = open_backend("cpu");
  EXPECT_TRUE(explain(other.get()).is_null());
}

TEST_F(EachOp, MemoryAndTimeAreChargedToTheHandle) {
  const Backend backend = open();
  const Tensor large = make_random(backend.get(), {kLarge, kLarge}, 1);
  const auto usage = [&] {
    rc_backend_usage_report report = RC_BACKEND_USAGE_REPORT_INIT;
    EXPECT_OK(rc_backend_usage(backend.get(), &report));
    return report;
  };
  constexpr uint64_t kBytes = 4 * kLarge * kLarge;
  EXPECT_EQ(usage().memory, kBytes);
  fast_.on_run = [](const rc_plugin_run&, char*, const auto& inner) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return inner();
  };
  const Tensor result = product(large.get(), large.get());
  EXPECT_GE(usage().compute_us, 5000u);
  // The result, and what was moved there, of which the memory is kept.
  EXPECT_GE(usage().memory, 2 * kBytes);
  // The limit holds for all devices together.
  const Backend limited = open("cpu,fast", 0, kBytes + kBytes / 2);
  const Tensor a = make_random(limited.get(), {kLarge, kLarge}, 1);
  rc_tensor* none = nullptr;
  EXPECT_FAILS(RC_E_DEVICE_MEMORY, rc_op_matmul(a.get(), a.get(), &none),
               "memory_limit");
}

TEST_F(EachOp, ThreadsCanShareAHandle) {
  const Backend backend = open();
  const Tensor large = make_random(backend.get(), {kLarge, kLarge}, 1);
  const std::vector<float> expected = expected_product(kLarge);
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 5; ++k) {
        const Tensor result = product(large.get(), large.get());
        static_cast<void>(explain(backend.get()));
        right += numbers_of(result.get()) == expected ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 20);
}

TEST_F(EachOp, TensorsOutliveTheHandle) {
  Backend backend = open();
  const Tensor large = make_random(backend.get(), {kLarge, kLarge}, 1);
  backend.reset();
  const Tensor result = product(large.get(), large.get());
  EXPECT_EQ(device_of(result.get()), "fast:0");
  EXPECT_EQ(numbers_of(result.get()), expected_product(kLarge));
}

TEST_F(EachOp, OptionsAreChecked) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.placement = 3;
  rc_backend* opened = nullptr;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_backend_open("cpu", &options, &opened),
               "placement", "3");
  options.placement = RC_PLACEMENT_FIRST;
  options.measure = 2;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_backend_open("cpu", &options, &opened),
               "measure");
}

// "auto" is the device in front for models, and all of them for tensors.
TEST_F(EachOp, AutoPicksOneDeviceForModelsAndAllForTensors) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.threads = 1;
  options.measure = 0;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open("auto", &options, &opened));
  const Backend backend(opened);
  rc_device_report device = RC_DEVICE_REPORT_INIT;
  ASSERT_OK(rc_backend_device(opened, &device));
  EXPECT_EQ(device.kind, RC_DEVICE_GPU_DISCRETE) << device.id;
  const Tensor small = make_random(opened, {4, 4}, 1);
  EXPECT_EQ(device_of(small.get()), "cpu:0");
  const Tensor large = make_random(opened, {kLarge, kLarge}, 1);
  EXPECT_EQ(device_of(product(large.get(), large.get()).get()), "fast:0");
  options.placement = RC_PLACEMENT_FIRST;
  ASSERT_OK(rc_backend_open("auto", &options, &opened));
  const Backend first(opened);
  ASSERT_OK(rc_backend_device(opened, &device));
  EXPECT_EQ(device_of(make_random(opened, {4, 4}, 1).get()), device.id);
}

}  // namespace
}  // namespace rc::test
