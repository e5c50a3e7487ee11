// The devices and the messages of machines that are set up in other ways.
#include <gtest/gtest.h>

#include "rocm/rocm_stand_in.h"

namespace rc::test {
namespace {

TEST(RocmSituations, EachHasItsDevicesOrAMessageWithARemedy) {
  expect_situations(
      hip_stand_in, RC_COMMAND,
      {
          {"no HIP", "RUNCIBLE_HIP_LIBRARY=libnot_there.so.1",
           "install ROCm's HIP runtime"},
          {"another library", "RUNCIBLE_HIP_LIBRARY=libm.so.6",
           "has no function hipInit"},
          {"no compiler", "RUNCIBLE_COMGR_LIBRARY=libnot_there.so.1",
           "install ROCm's code object manager"},
          {"another compiler", "RUNCIBLE_COMGR_LIBRARY=libm.so.6",
           "has no function amd_comgr_create_data"},
          {"no device", "RUNCIBLE_HIP_STAND_IN=init=100",
           "the groups render and video"},
          {"hidden devices",
           "HIP_VISIBLE_DEVICES=7 RUNCIBLE_HIP_STAND_IN=init=100",
           "HIP_VISIBLE_DEVICES (\"7\")"},
          {"old driver", "RUNCIBLE_HIP_STAND_IN=init=35",
           "older than the library needs"},
          {"no device file", "RUNCIBLE_HIP_STAND_IN=init=3",
           "see whether /dev/kfd exists"},
          {"another error", "RUNCIBLE_HIP_STAND_IN=init=999",
           "the driver cannot start"},
          {"no count", "RUNCIBLE_HIP_STAND_IN=devices=0",
           "HIP has no device; see what rocminfo lists"},
          {"two devices", "RUNCIBLE_HIP_STAND_IN=devices=2",
           "rocm:1: Stand-in 1 of ROCm (software)"},
      });
}

}  // namespace
}  // namespace rc::test
