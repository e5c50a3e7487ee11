// Handles on rocm: next to those on other backends, and two on one device.
#include <gtest/gtest.h>

#include "device/module_util.h"
#include "rocm/rocm_stand_in.h"

namespace rc::test {
namespace {

TEST(RocmHandles, EachHandleIsOnItsBackendAndGivesTheSameText) {
  RC_NEEDS_DEVICE("rocm");
  expect_same_text_everywhere(hip_stand_in);
}

TEST(RocmHandles, StepsThatComeAgainAreGraphs) {
  RC_NEEDS_STAND_IN(hip_stand_in);
  RC_NEEDS_DEVICE("rocm");
  expect_steps_to_be_graphs(hip_stand_in, "RUNCIBLE_ROCM_TUNING");
}

TEST(RocmHandles, WeightsAreOnTheDeviceOnce) {
  RC_NEEDS_STAND_IN(hip_stand_in);
  RC_NEEDS_DEVICE("rocm");
  expect_weights_once(hip_stand_in);
}

TEST(RocmHandles, InvalidTuningIsRefused) {
  RC_NEEDS_DEVICE("rocm");
  expect_refused("rocm", "RUNCIBLE_ROCM_TUNING",
                 {"tile=8", "parts=9", "attention=257", "graphs=2", "few"});
}

}  // namespace
}  // namespace rc::test
