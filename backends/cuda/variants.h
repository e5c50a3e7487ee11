// Kernels as they are compiled to PTX when the module is built.
//
// Constants of a kernel are fixed or open. Fixed ones decide its text: each
// combination of them that an op may ask for is compiled. Open ones are words
// in the PTX, RC_OPEN_<name>, that are replaced by numbers when a variant is
// loaded; the driver's compiler then knows them as well as the fixed ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/kernel.h"

namespace rc::cuda {

// The least compute capability, times 10, that the kernels are compiled for,
// and that of products by tensor cores.
inline constexpr int kLeastCapability = 61;
inline constexpr int kOfTensorCores = 75;

// The most that open constants may be, for which the kernels have arrays.
inline constexpr uint32_t kHeadRoom = 576;   // elements of a key or a value
inline constexpr uint32_t kStateRoom = 512;  // of a row of a state
inline constexpr uint32_t kWidthRoom = 32;   // columns of SHORT_CONV
inline constexpr uint32_t kGroupRoom = 256;  // work-items of a group
inline constexpr uint32_t kExpertGroupsRoom = 64;
// Numbers of the results of a group of ATTENTION.
inline constexpr uint32_t kResultsRoom = 11264;

struct OpenConstant {
  std::string name;
  uint32_t value;
};

// A variant: the definitions that it is compiled with, and its open constants.
struct Compiled {
  std::string definitions;  // "-DLANES=1 -DTILE=32 -DTYPE_Q4_K -DROWS=8 ..."
  std::vector<OpenConstant> open;
};
Compiled compiled(const gpu::Variant& variant);

// A kernel to compile.
struct Compilation {
  gpu::Kernel kernel;
  std::string definitions;              // as above
  std::vector<std::string> open_names;  // of its open constants
  int capability;                       // that it needs
};
std::vector<Compilation> compilations();

}  // namespace rc::cuda
