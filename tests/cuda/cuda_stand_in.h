// The stand-in for NVIDIA's driver.
#pragma once

#include "streams/stand_in_util.h"

namespace rc::test {

// Before the first test.
inline const StandIn cuda_stand_in("cuda", "RUNCIBLE_CUDA_LIBRARY",
                                   RC_CUDA_STAND_IN, "rc_cuda_stand_in_");

}  // namespace rc::test
