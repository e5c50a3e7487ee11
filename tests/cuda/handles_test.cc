// Handles on cuda: next to those on other backends, and two on one device.
#include <gtest/gtest.h>

#include "cuda/cuda_stand_in.h"
#include "device/module_util.h"

namespace rc::test {
namespace {

TEST(CudaHandles, EachHandleIsOnItsBackendAndGivesTheSameText) {
  RC_NEEDS_DEVICE("cuda");
  expect_same_text_everywhere(cuda_stand_in);
}

TEST(CudaHandles, StepsThatComeAgainAreGraphs) {
  RC_NEEDS_STAND_IN(cuda_stand_in);
  RC_NEEDS_DEVICE("cuda");
  expect_steps_to_be_graphs(cuda_stand_in, "RUNCIBLE_CUDA_TUNING");
}

TEST(CudaHandles, WeightsAreOnTheDeviceOnce) {
  RC_NEEDS_STAND_IN(cuda_stand_in);
  RC_NEEDS_DEVICE("cuda");
  expect_weights_once(cuda_stand_in);
}

}  // namespace
}  // namespace rc::test
