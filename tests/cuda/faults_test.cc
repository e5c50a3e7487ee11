// Calls of NVIDIA's driver that fail.
#include <gtest/gtest.h>

#include "cuda/api.h"
#include "cuda/cuda_stand_in.h"
#include "device/module_util.h"
#include "labels.h"

namespace rc::test {
namespace {

TEST(CudaFaults, EachCallFailsOnceAndTheDeviceOpensAgain) {
  RC_TEST_LABELS(kFull);
  RC_NEEDS_STAND_IN(cuda_stand_in);
  RC_NEEDS_DEVICE("cuda");
  expect_each_call_can_fail(
      cuda_stand_in, walk_to_text,
      {cuda::CUDA_ERROR_OUT_OF_MEMORY, cuda::CUDA_ERROR_ILLEGAL_ADDRESS}, 100);
}

TEST(CudaFaults, LackOfMemoryNamesTheBytes) {
  RC_NEEDS_STAND_IN(cuda_stand_in);
  RC_NEEDS_DEVICE("cuda");
  expect_lack_of_memory_is_told(cuda_stand_in, "cuMemAlloc_v2",
                                cuda::CUDA_ERROR_OUT_OF_MEMORY);
}

TEST(CudaFaults, LossOfTheDeviceIsAStatus) {
  RC_NEEDS_STAND_IN(cuda_stand_in);
  RC_NEEDS_DEVICE("cuda");
  expect_loss_is_a_status(cuda_stand_in, "cuLaunchKernel",
                          cuda::CUDA_ERROR_LAUNCH_FAILED,
                          "CUDA_ERROR_LAUNCH_FAILED");
}

}  // namespace
}  // namespace rc::test
