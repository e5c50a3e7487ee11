// The ops of the blas backend against those of the reference backend.
#include <gtest/gtest.h>

#include <memory>

#include "device/limits_util.h"
#include "device/module_util.h"
#include "runtime/registry.h"
#include "runtime/self_test_case.h"

namespace rc::test {
namespace {

std::shared_ptr<runtime::Device> blas_with(int threads) {
  runtime::Selection selection;
  selection.spec = "blas";
  selection.device.threads = threads;
  return runtime::select(selection).device;
}

TEST(BlasProduct, MatricesMatchTheReference) {
  RC_NEEDS_DEVICE("blas");
  const auto device = blas_with(3);
  const int64_t sizes[][3] = {{1, 1, 1},      {1, 300, 5000}, {7, 5, 3},
                              {300, 270, 40}, {2, 700, 9000}, {513, 1, 65}};
  for (const auto& [m, n, k] : sizes) {
    for (const bool transposed : {false, true}) {
      expect_right(device, matmul_case(m, n, k, transposed));
    }
    expect_right(device, matmul_case(m, n, k, true, RC_DTYPE_F16));
    expect_right(device, matmul_case(m, n, k, true, RC_DTYPE_BF16));
    for (const DType dtype : {RC_DTYPE_F32, RC_DTYPE_F16, RC_DTYPE_BF16}) {
      expect_right(device, linear_case(dtype, m, n, k));
    }
  }
}

TEST(BlasProduct, ConvolutionsMatchTheReference) {
  RC_NEEDS_DEVICE("blas");
  const auto device = blas_with(2);
  expect_right(device, conv2d_case(8, 3));
  expect_right(device, conv2d_case(8, 1));
}

TEST(BlasProduct, OtherOpsAndTypesAreRefusedWithTheReason) {
  RC_NEEDS_DEVICE("blas");
  const auto device = blas_with(1);
  expect_refused(device, linear_case(RC_DTYPE_Q8_0, 2, 4, 32), "Q8_0");
  expect_refused(device, matmul_case(2, 4, 256, true, RC_DTYPE_Q4_K), "Q4_K");
  expect_refused(device, unary_case(4), "there is no UNARY in BLAS");
  expect_refused(device, rms_norm_case(1, 1, 4), "RMS_NORM");
}

// Bits are promised for a library and a shape, whatever the threads.
TEST(BlasProduct, BitsDoNotDependOnThreads) {
  RC_NEEDS_DEVICE("blas");
  const SelfTestCase test = matmul_case(300, 520, 700, false);
  const auto first = runtime::results_of(test, blas_with(1));
  for (const int threads : {1, 2, 4}) {
    const auto device = blas_with(threads);
    for (int again = 0; again < 3; ++again) {
      const auto results = runtime::results_of(test, device);
      ASSERT_EQ(results.size(), first.size());
      for (size_t run = 0; run < results.size(); ++run) {
        ASSERT_EQ(results[run].size(), first[run].size());
        for (size_t i = 0; i < results[run].size(); ++i) {
          EXPECT_EQ(results[run][i].numbers, first[run][i].numbers)
              << threads << " threads";
        }
      }
    }
  }
}

}  // namespace
}  // namespace rc::test
