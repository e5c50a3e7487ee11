// Memory of weights of the cpu backend, and the threads that create them.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "backends/cpu_util.h"
#include "cpu/plugin.h"
#include "tensor/expand.h"
#include "tensor/formats/formats.h"

namespace rc::cpu_test {
namespace {

TEST(CpuWeight, TakesTheBytesOfItsTypeRoundedUpToTiles) {
  const rc_plugin& table = *cpu::plugin();
  const Device device;
  for (rc_dtype dtype : decodable_types()) {
    rc_plugin_weight_info info{};
    info.name = "w";
    info.dtype = dtype;
    info.rank = 2;
    info.shape[0] = 20;
    info.shape[1] = 512;
    info.uses = RC_USE_LINEAR;
    uint64_t bytes = 0;
    char message[RC_PLUGIN_MESSAGE_BYTES];
    ASSERT_EQ(table.weight_bytes(device.get(), &info, &bytes, message), RC_OK);
    const bool half = dtype == RC_DTYPE_F16 || dtype == RC_DTYPE_BF16;
    const bool own = quantized_activations(dtype) || half;
    const rc_dtype stored = own ? expanded_type(dtype) : RC_DTYPE_F32;
    uint64_t row = *expanded_row_bytes(stored, 512);
    if (half) row += 512 / 64 * sizeof(float);  // scales of 16-bit quants
    // A sign of eight elements is expanded for each and stored once.
    if (dtype == RC_DTYPE_IQ1_S || dtype == RC_DTYPE_IQ1_M) row -= 7 * 512 / 64;
    EXPECT_EQ(bytes, 32 * row);
  }
}

TEST(CpuWeight, WeightUsedByElementsIsNotMapped) {
  const rc_plugin& table = *cpu::plugin();
  const Device device;
  const float data[4] = {};
  rc_plugin_weight_info info{};
  info.name = "norm";
  info.dtype = RC_DTYPE_F32;
  info.rank = 1;
  info.shape[0] = 4;
  info.uses = RC_USE_ELEMENTS;
  rc_plugin_weight* weight = nullptr;
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  EXPECT_EQ(table.map_weight(device.get(), &info, data, &weight, message),
            RC_E_UNSUPPORTED);
  EXPECT_NE(std::string(message).find("norm"), std::string::npos) << message;
  EXPECT_EQ(weight, nullptr);
}

// Large ones are rearranged by several threads.
TEST(CpuWeight, DoesNotDependOnThreads) {
  constexpr int64_t experts = 3, n = 1203, k = 1024;
  const std::vector<int32_t> ids = {0, 1, 2};
  const auto x = random_floats(experts * k, 8);
  // A type with a tile layout and one that is decoded.
  for (rc_dtype dtype : {RC_DTYPE_Q8_0, RC_DTYPE_Q8_1}) {
    const auto weight = random_weight(dtype, experts * n, k, 9);
    std::vector<float> expected;
    for (int threads : {1, 2, 5}) {
      const Device device(threads);
      Program program(device);
      const int32_t px =
          program.input(RC_DTYPE_F32, {RC_DIM_ROWS, 1, k}, x.data());
      const int32_t pi =
          program.input(RC_DTYPE_I32, {RC_DIM_ROWS, 1}, ids.data());
      const int32_t pw =
          program.weight(dtype, {experts, n, k}, weight.data(), RC_USE_EXPERTS);
      const int32_t py = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, 1, n});
      program.op(RC_OP_EXPERT_LINEAR, {px, pw, pi}, {py});
      ASSERT_EQ(program.run(experts), RC_OK) << program.message();
      const auto& y = program.result(py);
      if (expected.empty()) expected.assign(y.begin(), y.begin() + experts * n);
      ASSERT_EQ(std::memcmp(y.data(), expected.data(),
                            expected.size() * sizeof(float)),
                0)
          << dtype_name(dtype) << ", " << threads << " threads";
    }
  }
}

TEST(CpuWeight, InvalidWeightsAreRefused) {
  const rc_plugin& table = *cpu::plugin();
  const Device device;
  const auto status = [&](rc_dtype dtype, std::vector<int64_t> shape,
                          uint32_t uses) {
    rc_plugin_weight_info info{};
    info.name = "w";
    info.dtype = dtype;
    info.rank = static_cast<int32_t>(shape.size());
    for (size_t i = 0; i < shape.size() && i < 4; ++i) info.shape[i] = shape[i];
    info.uses = uses;
    uint64_t bytes;
    char message[RC_PLUGIN_MESSAGE_BYTES] = "";
    const rc_status result =
        table.weight_bytes(device.get(), &info, &bytes, message);
    EXPECT_NE(message[0], '\0');
    return result;
  };
  EXPECT_EQ(status(RC_DTYPE_F32, {}, 4), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status(RC_DTYPE_F32, {1, 1, 1, 1, 1}, 4), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status(RC_DTYPE_F32, {4, 0}, 4), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status(RC_DTYPE_F32, {4, -4}, 4), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status(RC_DTYPE_Q4_K, {4, 100}, 4), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status(RC_DTYPE_F32, {INT64_MAX, INT64_MAX}, 4),
            RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status(RC_DTYPE_IQ2_XS, {4, 128}, 4), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status(kExpandedIQ2, {4, 256}, 4), RC_E_UNSUPPORTED);
  EXPECT_EQ(status(99, {4, 256}, 4), RC_E_UNSUPPORTED);
  EXPECT_EQ(status(RC_DTYPE_F32, {256}, RC_USE_ELEMENTS | RC_USE_LINEAR),
            RC_E_UNSUPPORTED);
}

}  // namespace
}  // namespace rc::cpu_test
