// The files of gpu/kernels/c, as embed.cmake puts them into the module.
#pragma once

namespace rc::opencl {

struct KernelFile {
  const char* name;  // "linear.cl"; nullptr after the last
  const char* text;
};
extern const KernelFile kKernelFiles[];

}  // namespace rc::opencl
