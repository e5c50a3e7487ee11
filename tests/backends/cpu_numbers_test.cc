// Tensors whose numbers are F64, F16 or BF16: the same bits at every level.
#include <gtest/gtest.h>

#include <cstring>

#include "backends/cpu_util.h"
#include "tensor/dtype.h"
#include "tensor/wide.h"

namespace rc::cpu_test {
namespace {

// Numbers of a type, from -2 to 2.
std::vector<std::byte> numbers(rc_dtype dtype, int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<double>(i * 7919 % 4001) / 1000.25 - 2);
  }
  std::vector<std::byte> bytes(*row_bytes(dtype, count));
  encode_row(dtype, values.data(), bytes.data(), count);
  return bytes;
}

// Bytes of the results of some ops.
std::vector<std::vector<float>> results(const Device& device, rc_dtype dtype) {
  constexpr int64_t kRows = 37, kInner = 75, kColumns = 45;
  const auto a = numbers(dtype, kRows * kInner);
  const auto b = numbers(dtype, kInner * kColumns);
  const auto bias = numbers(dtype, kColumns);
  Program program(device);
  const int32_t x = program.input(dtype, {1, kRows, kInner}, a.data());
  const int32_t y = program.input(dtype, {1, kInner, kColumns}, b.data());
  const int32_t added = program.input(dtype, {kColumns}, bias.data());
  const int32_t product = program.output(dtype, {1, kRows, kColumns});
  program.op(RC_OP_MATMUL, {x, y, added}, {product});
  std::vector<int32_t> made = {product};
  for (const int32_t function :
       {int32_t{RC_FUNCTION_GELU}, int32_t{RC_UNARY_LOG},
        int32_t{RC_UNARY_SQRT}, int32_t{RC_FUNCTION_TANH}}) {
    made.push_back(program.output(dtype, {1, kRows, kInner}));
    program.op(RC_OP_UNARY, {x}, {made.back()}).params.unary.function =
        function;
  }
  made.push_back(program.output(dtype, {1, kRows, kColumns}));
  program.op(RC_OP_BINARY, {product, added}, {made.back()})
      .params.binary.function = RC_BINARY_DIV;
  EXPECT_EQ(program.run(1), RC_OK) << program.message();
  std::vector<std::vector<float>> found;
  for (const int32_t value : made) found.push_back(program.result(value));
  return found;
}

TEST(CpuNumbers, AreTheSameAtEveryLevel) {
  for (const rc_dtype dtype : {RC_DTYPE_F64, RC_DTYPE_F16, RC_DTYPE_BF16}) {
    const auto expected = results(Device(1, level_names().front()), dtype);
    for (const std::string& level : level_names()) {
      for (const int threads : {1, 3}) {
        const auto found = results(Device(threads, level), dtype);
        ASSERT_EQ(found.size(), expected.size());
        for (size_t i = 0; i < found.size(); ++i) {
          ASSERT_EQ(found[i].size(), expected[i].size());
          EXPECT_EQ(std::memcmp(found[i].data(), expected[i].data(),
                                found[i].size() * sizeof(float)),
                    0)
              << level << " " << dtype_name(dtype) << " " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace rc::cpu_test
