// Calls of HIP that fail.
#include <gtest/gtest.h>

#include "device/module_util.h"
#include "labels.h"
#include "rocm/hip.h"
#include "rocm/rocm_stand_in.h"

namespace rc::test {
namespace {

TEST(RocmFaults, EachCallFailsOnceAndTheDeviceOpensAgain) {
  RC_TEST_LABELS(kFull);
  RC_NEEDS_STAND_IN(hip_stand_in);
  RC_NEEDS_DEVICE("rocm");
  expect_each_call_can_fail(
      hip_stand_in, walk_to_text,
      {rocm::hipErrorOutOfMemory, rocm::hipErrorIllegalAddress}, 100);
}

TEST(RocmFaults, EachCallForACustomOpFailsOnce) {
  RC_NEEDS_STAND_IN(hip_stand_in);
  RC_NEEDS_DEVICE("rocm");
  EXPECT_EQ(walk_to_custom_op("rocm").text, "2 4 6");
  expect_each_call_can_fail(
      hip_stand_in, walk_to_custom_op,
      {rocm::hipErrorOutOfMemory, rocm::hipErrorIllegalAddress}, 20);
}

TEST(RocmFaults, LackOfMemoryNamesTheBytes) {
  RC_NEEDS_STAND_IN(hip_stand_in);
  RC_NEEDS_DEVICE("rocm");
  expect_lack_of_memory_is_told(hip_stand_in, "hipMalloc",
                                rocm::hipErrorOutOfMemory);
}

TEST(RocmFaults, LossOfTheDeviceIsAStatus) {
  RC_NEEDS_STAND_IN(hip_stand_in);
  RC_NEEDS_DEVICE("rocm");
  expect_loss_is_a_status(hip_stand_in, "hipModuleLaunchKernel",
                          rocm::hipErrorLaunchFailure, "hipErrorLaunchFailure");
}

}  // namespace
}  // namespace rc::test
