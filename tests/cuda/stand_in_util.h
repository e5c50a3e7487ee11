// The stand-in for NVIDIA's driver, which the module loads in these tests
// unless the environment names another library.
#pragma once

#include "cuda/api.h"

namespace rc::test {

// Whether it is what the module loads.
bool has_stand_in();

// To be the first line of a test that controls it.
#define RC_NEEDS_STAND_IN()                                       \
  if (!has_stand_in()) {                                          \
    GTEST_SKIP() << "only software devices do as they are asked"; \
  }

// After so many calls of that function, or of any if it is "", one gives this
// result; negative: none does. Takes back the loss of the device.
void fail_after(const char* function, long calls, cuda::CUresult result);
// Calls so far.
long calls();
// Graphs that were launched.
long graphs();
// Bytes that are allocated, on the device and pinned.
long bytes();

}  // namespace rc::test
