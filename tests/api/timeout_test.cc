// The time limit of a backend handle, for tensor ops.
#include <chrono>
#include <thread>

#include "api_util.h"
#include "runtime/wrapped_plugin.h"

namespace rc::test {
namespace {

struct ReleaseTensor {
  void operator()(rc_tensor* tensor) const { rc_tensor_release(tensor); }
};
using Tensor = std::unique_ptr<rc_tensor, ReleaseTensor>;

TEST(Timeout, StopsTensorOpsWithinTheRun) {
  for (const char* inner : {"cpu", "reference"}) {
    const std::string name = std::string("late_") + inner;
    WrappedState& state = wrap_backend(name, inner);
    rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
    options.timeout_ms = 700;
    rc_backend* opened = nullptr;
    ASSERT_OK(rc_backend_open(name.c_str(), &options, &opened));
    const Backend backend(opened);
    const int64_t shape[] = {40, 50};
    rc_tensor* made = nullptr;
    ASSERT_OK(rc_tensor_ones(opened, RC_DTYPE_F32, shape, 2, &made));
    const Tensor ones(made);
    state.on_run = [](const rc_plugin_run&, char*, const auto& run) {
      std::this_thread::sleep_for(std::chrono::milliseconds(800));
      return run();
    };
    rc_tensor* result = nullptr;
    EXPECT_FAILS(RC_E_TIMEOUT, rc_op_add(ones.get(), ones.get(), &result),
                 "700 ms");
    EXPECT_EQ(result, nullptr);
    // The device has stopped and goes on, on a busy machine perhaps not at
    // once.
    state.on_run = {};
    rc_status status = RC_E_TIMEOUT;
    for (int i = 0; i < 20 && status == RC_E_TIMEOUT; ++i) {
      status = rc_op_add(ones.get(), ones.get(), &result);
    }
    EXPECT_OK(status);
    rc_tensor_release(result);
  }
}

// A tensor of several parts that is filled within the time.
TEST(Timeout, DoesNotDelayFilling) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.timeout_ms = 1'000'000;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open("cpu", &options, &opened));
  const Backend backend(opened);
  const int64_t shape[] = {1 << 18};
  rc_tensor* made = nullptr;
  ASSERT_OK(rc_tensor_ones(opened, RC_DTYPE_F32, shape, 1, &made));
  const Tensor ones(made);
  std::vector<float> numbers(1 << 18);
  ASSERT_OK(rc_tensor_read(made, numbers.data(), sizeof(float) << 18));
  EXPECT_EQ(numbers, std::vector<float>(1 << 18, 1.0f));
}

}  // namespace
}  // namespace rc::test
