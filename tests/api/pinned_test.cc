// Memory of the host's that devices move numbers from and to by themselves.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>

#include "tensor_util.h"

namespace rc::test {
namespace {

using Pinned = std::unique_ptr<rc_pinned, Release<rc_pinned_release>>;

Pinned pin(rc_backend* backend, size_t bytes, const char* device = nullptr) {
  rc_pinned* pinned = nullptr;
  EXPECT_OK(rc_pinned_create(backend, device, bytes, &pinned));
  return Pinned(pinned);
}

float* floats_of(const Pinned& pinned) {
  void* data = nullptr;
  EXPECT_OK(rc_pinned_memory(pinned.get(), &data, nullptr));
  return static_cast<float*>(data);
}

TEST(Pinned, CanBeFilledMovedAndRead) {
  for (const char* spec : {"cpu", "reference"}) {
    const Backend backend = open_backend(spec);
    const int64_t count = 1000;
    const Pinned from = pin(backend.get(), 4 * count);
    const Pinned to = pin(backend.get(), 4 * count + 64);
    size_t bytes = 0;
    ASSERT_OK(rc_pinned_memory(to.get(), nullptr, &bytes));
    EXPECT_EQ(bytes, 4064u);
    float* numbers = floats_of(from);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(numbers) % 64, 0u);
    EXPECT_TRUE(std::all_of(numbers, numbers + count,
                            [](float number) { return number == 0; }));
    std::iota(numbers, numbers + count, 1.0f);
    rc_tensor* made = nullptr;
    ASSERT_OK(rc_tensor_from_data(backend.get(), RC_DTYPE_F32, &count, 1,
                                  numbers, 4 * count, &made));
    const Tensor x(made);
    numbers[0] = 7;  // what was moved is a copy
    rc_tensor* negated = nullptr;
    ASSERT_OK(rc_op_neg(x.get(), &negated));
    const Tensor y(negated);
    float* result = floats_of(to) + 16;
    ASSERT_OK(rc_tensor_read(y.get(), result, 4 * count));
    EXPECT_EQ(result[0], -1);
    EXPECT_EQ(result[count - 1], -1000);
    // It is memory that a tensor can be of.
    ASSERT_OK(rc_tensor_borrow(backend.get(), RC_DTYPE_F32, &count, 1, numbers,
                               4 * count, nullptr, nullptr, &made));
    const Tensor borrowed(made);
    EXPECT_EQ(numbers_of(borrowed.get())[0], 7);
  }
}

// Pinned memory counts towards the memory limit and the meter of the handle.
TEST(Pinned, CountsTowardsTheLimitAndTheMeter) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.memory_limit = 1 << 20;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open("cpu", &options, &opened));
  const Backend backend(opened);
  const auto used = [&] {
    rc_backend_usage_report report;
    rc_backend_usage_report_init(&report, sizeof report);
    EXPECT_OK(rc_backend_usage(backend.get(), &report));
    return report.memory;
  };
  const uint64_t before = used();
  {
    const Pinned half = pin(backend.get(), 600000);
    EXPECT_EQ(used(), before + 600000);
    rc_pinned* more = nullptr;
    EXPECT_FAILS(RC_E_DEVICE_MEMORY,
                 rc_pinned_create(backend.get(), nullptr, 600000, &more),
                 "600000");
    EXPECT_EQ(more, nullptr);
    EXPECT_EQ(rc_pinned_retain(half.get()), half.get());
    rc_pinned_release(half.get());
    EXPECT_EQ(used(), before + 600000);
  }
  EXPECT_EQ(used(), before);
}

TEST(Pinned, RefusesInvalidArguments) {
  const Backend backend = open_backend("cpu");
  rc_pinned* pinned = nullptr;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_pinned_create(backend.get(), nullptr, 0, &pinned), "bytes");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_pinned_create(backend.get(), "vulkan:7", 8, &pinned),
               "vulkan:7", "cpu:0");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_pinned_create(nullptr, nullptr, 8, &pinned));
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_pinned_create(backend.get(), nullptr, 8, nullptr));
  void* data = nullptr;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_pinned_memory(nullptr, &data, nullptr));
  EXPECT_EQ(rc_pinned_retain(nullptr), nullptr);
  rc_pinned_release(nullptr);
  EXPECT_OK(rc_pinned_create(backend.get(), "cpu", 8, &pinned));
  rc_pinned_release(pinned);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_pinned_memory(pinned, &data, nullptr));
  // More than any allocator is asked for.
  const rc_status status = rc_pinned_create(
      backend.get(), nullptr, std::numeric_limits<size_t>::max(), &pinned);
  EXPECT_TRUE(status == RC_E_OUT_OF_MEMORY || status == RC_E_DEVICE_MEMORY)
      << rc_error_message();
}

}  // namespace
}  // namespace rc::test
