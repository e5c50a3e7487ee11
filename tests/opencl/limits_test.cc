// Limits of devices: work-groups that are enqueued at once, bytes of a buffer,
// local memory, and the numbers that kernels count with.
#include <gtest/gtest.h>

#include "base/error.h"
#include "device/limits_util.h"
#include "device/module_util.h"
#include "model/model_util.h"

namespace rc::test {
namespace {

constexpr char kTuning[] = "RUNCIBLE_OPENCL_TUNING";
constexpr int64_t kLargest = INT32_MAX / 2;

TEST(OpenclLimits, ManyWorkGroupsAreSplit) {
  RC_NEEDS_DEVICE("opencl");
  for (const char* tuning :
       {"groups=7", "groups=7,lanes=1,tile=8,parts=2,reduce=8"}) {
    const auto device = open_tuned("opencl", kTuning, tuning);
    for (const int64_t n : {6, 7, 8, 50}) {
      expect_right(device, add_case(n, 5));
      expect_right(device, linear_case(RC_DTYPE_F32, n, 3, 40));
      expect_right(device, rms_norm_case(n, 2, 9));
      expect_right(device, row_layer_norm_case(n, 2, 9));
      expect_right(device, rope_case(n, 2, 6));
      expect_right(device, attention_case(n, 2, 4, 3, 4));
      expect_right(device, short_conv_case(n, 9, 4));
      expect_right(device, scan_case(n, 2, 5, 20));
      expect_right(device, unary_case(n * 4096));
      expect_right(device, reduce_case(RC_REDUCE_SUM, n, 40, 1));
      expect_right(device, softmax_case(n, 3, 5));
      expect_right(device, matmul_case(n * 128, 20, 3, false));
      expect_right(device, conv2d_case(n, 3));
    }
  }
}

TEST(OpenclLimits, LongLinesAreCorrect) {
  RC_NEEDS_DEVICE("opencl");
  const auto device = open_device("opencl");
  // Lines are cut from 16384 on, into parts of 4096; also the limit of another
  // kind of device.
  for (const int64_t limit : {16'384, 20'480, 524'280}) {
    for (const int64_t n : {limit - 1, limit, limit + 1}) {
      expect_right(device, reduce_case(RC_REDUCE_SUM, 1, n, 1));
      expect_right(device, reduce_case(RC_REDUCE_MEAN, 1, n, 3));
      expect_right(device, reduce_case(RC_REDUCE_MAX, 1, n, 1));
      expect_right(device, argmax_case(1, n, 1));
      expect_right(device, softmax_case(1, n, 1));
      expect_right(device, matmul_case(1, 2, n, false));
      expect_right(device, matmul_case(2, 1, n, true));
    }
  }
}

TEST(OpenclLimits, StatesFitIntoRegisters) {
  RC_NEEDS_DEVICE("opencl");
  const auto device = open_device("opencl");
  expect_right(device, short_conv_case(40, 9, 32));
  expect_refused(device, short_conv_case(2, 9, 33), "32 columns at most");
  expect_right(device, scan_case(40, 2, 3, 1024));
  expect_refused(device, scan_case(2, 2, 3, 1025), "1024 columns at most");
  expect_right(device, channel_scan_case(40, 3, 1024));
  expect_right(device, delta_rule_case(40, 2, 3, 1024));
  expect_refused(device, channel_scan_case(2, 3, 1025), "1024 columns at most");
}

TEST(OpenclLimits, LargeBuffersAreRefused) {
  RC_NEEDS_DEVICE("opencl");
  const auto device =
      open_tuned("opencl", kTuning, "allocation=1,lanes=8,tile=8");
  // 1 MiB of F32, in tiles of 8 rows; more is in several buffers.
  expect_right(device, linear_case(RC_DTYPE_F32, 2, 256, 1024));
  expect_right(device, linear_case(RC_DTYPE_F32, 2, 1025, 1024));
  expect_refused(device, get_rows_case(2, 1 << 17, false),
                 "the device can bind 1048576");
  expect_right(device, attention_case(2, 2, 16, 1024, 16));
  expect_refused(device, attention_case(2, 2, 16, 1025, 16),
                 "the device allows 1048576");
  try {
    device->create_buffer((1 << 20) + 1);
    ADD_FAILURE() << "a buffer beyond the limit";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_DEVICE_MEMORY);
  }
}

TEST(OpenclLimits, HeadsFitIntoLocalMemory) {
  RC_NEEDS_DEVICE("opencl");
  // All work-items together would want 16 MB of it.
  const auto device = open_tuned("opencl", kTuning, "attention=4096");
  expect_right(device, attention_case(2, 2, 1023, 3, 4));
  expect_right(device, attention_case(2, 2, 1024, 3, 4));
  expect_refused(device, attention_case(2, 2, 1025, 3, 4),
                 "up to 1024 are possible");
  expect_right(device, attend_case(20, 1024));
  expect_refused(device, attend_case(20, 1025), "up to 1024 are possible");
}

// Shapes that no test has the memory for.
TEST(OpenclLimits, DimensionsBeyondIntAreRefused) {
  RC_NEEDS_DEVICE("opencl");
  const auto device = open_device("opencl");
  const auto status_of = [&](SelfTestCase test, int value, int dimension,
                             int64_t size) {
    for (rc_plugin_value& found : test.description.values) {
      if (found.rank > dimension &&
          found.shape[dimension] ==
              test.description.values[static_cast<size_t>(value)]
                  .shape[dimension] &&
          &found != &test.description.values[static_cast<size_t>(value)]) {
        found.shape[dimension] = size;
      }
    }
    test.description.values[static_cast<size_t>(value)].shape[dimension] = size;
    runtime::Message message;
    return device->op_supported(test.description.ops.front(),
                                test.description.values.data(), message);
  };
  EXPECT_EQ(status_of(add_case(2, 5), 0, 1, 1 << 20), RC_OK);
  EXPECT_EQ(status_of(add_case(2, 5), 0, 1, kLargest + 1), RC_E_UNSUPPORTED);
  EXPECT_EQ(status_of(reduce_case(RC_REDUCE_SUM, 1, 7, 2), 0, 1, kLargest + 1),
            RC_E_UNSUPPORTED);
  EXPECT_EQ(status_of(matmul_case(2, 3, 7, true), 0, 2, kLargest + 1),
            RC_E_UNSUPPORTED);
}

}  // namespace
}  // namespace rc::test
