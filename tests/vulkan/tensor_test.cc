// Properties of tensor ops that the conformance suite does not test: numbers at
// the limits of types, values between others in one buffer, refusals, and long
// ops.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "device/limits_util.h"
#include "device/module_util.h"
#include "model/model_util.h"
#include "runtime/program.h"
#include "tensor/dtype.h"

namespace rc::test {
namespace {

using Bytes = std::vector<std::byte>;

// A program of tensor ops over buffers of a device.
class TensorProgram {
 public:
  explicit TensorProgram(std::shared_ptr<runtime::Device> device)
      : device_(std::move(device)) {}

  int buffer(const Bytes& bytes) {
    buffers_.push_back(device_->create_buffer(bytes.size()));
    buffers_.back()->upload(0, bytes.data(), bytes.size());
    return static_cast<int>(buffers_.size()) - 1;
  }
  int32_t value(int buffer, DType dtype, const std::vector<int64_t>& shape,
                uint64_t offset = 0) {
    rc_plugin_value value = {};
    value.dtype = dtype;
    value.rank = static_cast<int32_t>(shape.size());
    std::copy(shape.begin(), shape.end(), value.shape);
    value.storage = RC_STORAGE_CACHE;
    value.index = buffer;
    value.offset = offset;
    description_.values.push_back(value);
    return static_cast<int32_t>(description_.values.size()) - 1;
  }
  Op& op(int32_t code, std::initializer_list<int32_t> inputs, int32_t output) {
    Op op;
    op.code = code;
    std::copy(inputs.begin(), inputs.end(), op.inputs);
    op.outputs[0] = output;
    description_.ops.push_back(op);
    return description_.ops.back();
  }
  void run(int32_t (*should_stop)(void*) = nullptr) {
    for (size_t i = 0; i < buffers_.size(); ++i) {
      rc_plugin_value cache = {};
      cache.dtype = RC_DTYPE_I8;
      cache.rank = 1;
      cache.shape[0] = static_cast<int64_t>(buffers_[i]->bytes());
      cache.storage = RC_STORAGE_CACHE;
      cache.index = static_cast<int32_t>(i);
      description_.caches.push_back(cache);
    }
    const auto program = runtime::Program::compile(
        device_, std::move(description_), {1, 0, 0}, {}, buffers_);
    runtime::RunArguments arguments;
    arguments.rows = 1;
    arguments.should_stop = should_stop;
    program->run(arguments, -1);
  }
  Bytes read(int buffer) const {
    Bytes bytes(buffers_[buffer]->bytes());
    buffers_[buffer]->download(0, bytes.data(), bytes.size());
    return bytes;
  }

 private:
  std::shared_ptr<runtime::Device> device_;
  runtime::ProgramDescription description_;
  std::vector<std::shared_ptr<runtime::Buffer>> buffers_;
};

Bytes converted(DType from, const Bytes& numbers, DType to, int64_t count) {
  TensorProgram program(open_device("vulkan"));
  const int x = program.buffer(numbers);
  const int y = program.buffer(Bytes(*row_bytes(to, count)));
  program.op(RC_OP_CONVERT, {program.value(x, from, {count})},
             program.value(y, to, {count}));
  program.run();
  return program.read(y);
}

std::vector<float> decoded(DType dtype, const Bytes& bytes, int64_t count) {
  std::vector<float> numbers(count);
  decode_row(dtype, bytes.data(), numbers.data(), count);
  return numbers;
}

// The same numbers, any NaN for a NaN.
void expect_same(const std::vector<float>& actual,
                 const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_TRUE(std::isnan(expected[i]) ? std::isnan(actual[i])
                                        : actual[i] == expected[i])
        << i << ": " << actual[i] << " instead of " << expected[i];
  }
}

TEST(VulkanTensor, LimitsOfTypesAreRoundedAsOnTheCpu) {
  RC_NEEDS_DEVICE("vulkan");
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> numbers = {
      0.0f,           -0.0f,         0.5f,
      1.5f,           -2.5f,         127.5f,
      -128.5f,        1e9f,          32767.5f,
      -32768.5f,      65504.0f,      65519.9f,
      65520.0f,       6.0e-8f,       2.9e-8f,
      6.1e-5f,        2147483520.0f, 2147483648.0f,
      -2147483648.0f, 9.0e18f,       9.3e18f,
      -9.3e18f,       1.0e12f,       -3.0e10f,
      8388607.5f,     3.4e38f,       -3.4e38f,
      kInfinity,      -kInfinity,    std::numeric_limits<float>::quiet_NaN(),
      1.00390625f,    1.01171875f};
  // A large block whose scale is the smallest, and one of a lone number.
  for (int i = 0; i < 256 - 32; ++i) {
    numbers.push_back(static_cast<float>(i % 7) * 1e-6f);
  }
  numbers.resize(512);
  numbers[300] = -77.0f;
  const auto count = static_cast<int64_t>(numbers.size());
  for (const DType dtype :
       {RC_DTYPE_F32, RC_DTYPE_F16, RC_DTYPE_BF16, RC_DTYPE_F64, RC_DTYPE_I8,
        RC_DTYPE_I16, RC_DTYPE_I32, RC_DTYPE_I64, RC_DTYPE_Q4_0, RC_DTYPE_Q4_1,
        RC_DTYPE_Q5_0, RC_DTYPE_Q5_1, RC_DTYPE_Q8_0, RC_DTYPE_Q4_K,
        RC_DTYPE_Q5_K, RC_DTYPE_Q6_K, RC_DTYPE_IQ4_NL}) {
    SCOPED_TRACE(dtype_name(dtype));
    Bytes expected(*row_bytes(dtype, count));
    encode_row(dtype, numbers.data(), expected.data(), count);
    expect_same(
        decoded(dtype, converted(RC_DTYPE_F32, bytes_of(numbers), dtype, count),
                count),
        decoded(dtype, expected, count));
  }
}

template <class T>
void expect_decoded(DType dtype, const std::vector<T>& numbers) {
  const auto count = static_cast<int64_t>(numbers.size());
  const Bytes bytes = bytes_of(numbers);
  SCOPED_TRACE(dtype_name(dtype));
  expect_same(decoded(RC_DTYPE_F32,
                      converted(dtype, bytes, RC_DTYPE_F32, count), count),
              decoded(dtype, bytes, count));
}

TEST(VulkanTensor, WideNumbersAreRoundedToTheNearest) {
  RC_NEEDS_DEVICE("vulkan");
  expect_decoded<double>(RC_DTYPE_F64,
                         {0.0,
                          -0.0,
                          1.0 / 3,
                          -1.0 / 3,
                          16777217.0,
                          16777219.0,
                          -16777217.0,
                          16777217.0000001,
                          3.4028235e38,
                          3.4028236e38,
                          1e300,
                          -1e300,
                          1.1754944e-38,
                          1.4e-45,
                          7.0e-46,
                          7.1e-46,
                          2.1e-45,
                          -1e-39,
                          5e-324,
                          1e-60,
                          std::numeric_limits<double>::infinity(),
                          -std::numeric_limits<double>::infinity(),
                          std::numeric_limits<double>::quiet_NaN()});
  constexpr int64_t kOdd = (int64_t{1} << 24) + 1;
  expect_decoded<int64_t>(RC_DTYPE_I64,
                          {0, 1, -1, kOdd, -kOdd, kOdd + 2, kOdd << 20,
                           (kOdd << 20) + 1, (kOdd << 38), INT64_MAX, INT64_MIN,
                           INT64_MIN + 1, 1LL << 32, -(1LL << 33)});
  expect_decoded<int32_t>(
      RC_DTYPE_I32, {0, 1, -1, 16777217, -16777219, INT32_MAX, INT32_MIN});
}

TEST(VulkanTensor, AdjacentBytesInABufferAreNotChanged) {
  RC_NEEDS_DEVICE("vulkan");
  std::vector<int8_t> source(64);
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<int8_t>(i);
  TensorProgram program(open_device("vulkan"));
  const int x = program.buffer(bytes_of(source));
  const int f = program.buffer(bytes_of<float>({0, 1, 2, 3, 4, 5, 6, 7}));
  const int y = program.buffer(Bytes(48, std::byte{0x55}));
  const auto copy = [&](int64_t count, uint64_t from, uint64_t to) {
    program
        .op(RC_OP_COPY, {program.value(x, RC_DTYPE_I8, {count}, from)},
            program.value(y, RC_DTYPE_I8, {count}, to))
        .params.copy.strides[0] = 1;
  };
  copy(5, 17, 3);
  copy(6, 40, 8);
  copy(1, 63, 15);
  program.op(RC_OP_CONVERT, {program.value(f, RC_DTYPE_F32, {3}, 4)},
             program.value(y, RC_DTYPE_F16, {3}, 18));
  program.op(RC_OP_CONVERT, {program.value(f, RC_DTYPE_F32, {3}, 16)},
             program.value(y, RC_DTYPE_I8, {3}, 25));
  program.run();
  Bytes expected(48, std::byte{0x55});
  std::memcpy(&expected[3], &source[17], 5);
  std::memcpy(&expected[8], &source[40], 6);
  std::memcpy(&expected[15], &source[63], 1);
  const uint16_t halves[] = {0x3C00, 0x4000, 0x4200};
  std::memcpy(&expected[18], halves, sizeof halves);
  const int8_t bytes[] = {4, 5, 6};
  std::memcpy(&expected[25], bytes, sizeof bytes);
  EXPECT_EQ(program.read(y), expected);
}

TEST(VulkanTensor, RowIdOutOfRangeIsRefused) {
  RC_NEEDS_DEVICE("vulkan");
  const auto device = open_device("vulkan");
  for (const int32_t bad : {3, -1, INT32_MAX, INT32_MIN, 2}) {
    TensorProgram program(device);
    const int table = program.buffer(bytes_of<float>({1, 2, 3, 4, 5, 6}));
    const int ids = program.buffer(bytes_of<int32_t>({0, 2, bad, 1}));
    const int y = program.buffer(Bytes(4 * 2 * sizeof(float)));
    program.op(RC_OP_GET_ROWS,
               {program.value(table, RC_DTYPE_F32, {3, 2}),
                program.value(ids, RC_DTYPE_I32, {4})},
               program.value(y, RC_DTYPE_F32, {4, 2}));
    if (bad == 2) {
      program.run();
      EXPECT_EQ(program.read(y), bytes_of<float>({1, 2, 5, 6, 5, 6, 3, 4}));
      continue;
    }
    try {
      program.run();
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
      EXPECT_NE(error.message().find(cat("GET_ROWS: row 2 asks for number ",
                                         bad, " of a table of 3")),
                std::string::npos)
          << error.message();
    }
  }
}

// A product of ones, that takes long.
struct LargeProduct {
  static constexpr int64_t kSize = 1100;
  explicit LargeProduct(const std::shared_ptr<runtime::Device>& device)
      : program(device) {
    const Bytes ones = bytes_of(std::vector<float>(kSize * kSize, 1.0f));
    const int a = program.buffer(ones);
    const int b = program.buffer(ones);
    y = program.buffer(Bytes(ones.size()));
    const auto value = [&](int buffer) {
      return program.value(buffer, RC_DTYPE_F32, {1, kSize, kSize});
    };
    program.op(RC_OP_MATMUL, {value(a), value(b)}, value(y));
  }
  TensorProgram program;
  int y;
};

TEST(VulkanTensor, LongOpCanBeStoppedAndRepeated) {
  RC_NEEDS_DEVICE("vulkan");
  const auto device = open_device("vulkan");
  try {
    LargeProduct(device).program.run([](void*) -> int32_t { return 1; });
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_CANCELLED);
  }
  LargeProduct whole(device);
  whole.program.run();
  EXPECT_EQ(
      whole.program.read(whole.y),
      bytes_of(std::vector<float>(LargeProduct::kSize * LargeProduct::kSize,
                                  static_cast<float>(LargeProduct::kSize))));
}

TEST(VulkanTensor, TooLargeTensorsAreRefused) {
  RC_NEEDS_DEVICE("vulkan");
  // The library's own test of the device, at its first opening, needs more.
  open_device("vulkan");
  const TemporaryVariable range("RUNCIBLE_VULKAN_RANGE", "1024");
  TensorProgram program(open_device("vulkan"));
  const int x = program.buffer(Bytes(2048));
  program
      .op(RC_OP_UNARY, {program.value(x, RC_DTYPE_F32, {257})},
          program.value(program.buffer(Bytes(1028)), RC_DTYPE_F32, {257}))
      .params.unary.function = RC_FUNCTION_RELU;
  try {
    program.run();
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("1024"), std::string::npos)
        << error.message();
  }
}

}  // namespace
}  // namespace rc::test
