#include "cuda/stand_in_util.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace rc::test {
namespace {

constexpr const char* kLibrary = "RUNCIBLE_CUDA_LIBRARY";

// Before the first test.
[[maybe_unused]] const int is_set = setenv(kLibrary, RC_STAND_IN, 0);

template <class Function>
Function* control(const char* name) {
  // The module loads it by the same path.
  static void* const library = dlopen(RC_STAND_IN, RTLD_NOW | RTLD_LOCAL);
  void* const found = library == nullptr ? nullptr : dlsym(library, name);
  EXPECT_NE(found, nullptr) << name;
  return reinterpret_cast<Function*>(found);
}

}  // namespace

bool has_stand_in() {
  return std::getenv(kLibrary) == std::string(RC_STAND_IN);
}

void fail_after(const char* function, long calls, cuda::CUresult result) {
  control<void(const char*, long, cuda::CUresult)>("rc_cuda_stand_in_fail")(
      function, calls, result);
}

long calls() { return control<long()>("rc_cuda_stand_in_calls")(); }

long graphs() { return control<long()>("rc_cuda_stand_in_graphs")(); }

long bytes() { return control<long()>("rc_cuda_stand_in_bytes")(); }

}  // namespace rc::test
