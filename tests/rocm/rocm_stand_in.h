// The stand-ins for HIP and for AMD's compiler.
#pragma once

#include <cstdlib>

#include "streams/stand_in_util.h"

namespace rc::test {

// Before the first test.
inline const StandIn hip_stand_in("rocm", "RUNCIBLE_HIP_LIBRARY",
                                  RC_HIP_STAND_IN, "rc_hip_stand_in_");
[[maybe_unused]] inline const int compiler_is_set =
    setenv("RUNCIBLE_COMGR_LIBRARY", RC_COMGR_STAND_IN, 0);

}  // namespace rc::test
