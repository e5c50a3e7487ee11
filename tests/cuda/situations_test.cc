// The devices and the messages of machines that are set up in other ways.
#include <gtest/gtest.h>

#include "cuda/cuda_stand_in.h"

namespace rc::test {
namespace {

TEST(CudaSituations, EachHasItsDevicesOrAMessageWithARemedy) {
  expect_situations(
      cuda_stand_in, RC_COMMAND,
      {
          {"no driver", "RUNCIBLE_CUDA_LIBRARY=libnot_there.so.1",
           "install NVIDIA's driver"},
          {"another library", "RUNCIBLE_CUDA_LIBRARY=libm.so.6",
           "has no function cuInit"},
          {"no device", "RUNCIBLE_CUDA_STAND_IN=init=100",
           "see whether nvidia-smi lists one"},
          {"the stub of the toolkit", "RUNCIBLE_CUDA_STAND_IN=init=34",
           "remove its folder from the library path"},
          {"fabric manager", "RUNCIBLE_CUDA_STAND_IN=init=802",
           "nvidia-fabricmanager has to run"},
          {"updated driver", "RUNCIBLE_CUDA_STAND_IN=init=803",
           "restart the machine"},
          {"no device files", "RUNCIBLE_CUDA_STAND_IN=init=999",
           "/dev/nvidia-uvm exist and may be opened"},
          {"hidden devices",
           "CUDA_VISIBLE_DEVICES=7 RUNCIBLE_CUDA_STAND_IN=init=100",
           "CUDA_VISIBLE_DEVICES (\"7\")"},
          {"old driver", "RUNCIBLE_CUDA_STAND_IN=driver=10020",
           "the driver supports CUDA 10.2; 11.0 is needed"},
          {"old GPU", "RUNCIBLE_CUDA_STAND_IN=capability=52",
           "its compute capability is 5.2; the kernels need 6.1"},
          {"prohibited", "RUNCIBLE_CUDA_STAND_IN=mode=2",
           "nvidia-smi -c DEFAULT"},
          {"two devices", "RUNCIBLE_CUDA_STAND_IN=devices=2",
           "cuda:1: Stand-in 1 of CUDA (software)"},
      });
}

}  // namespace
}  // namespace rc::test
