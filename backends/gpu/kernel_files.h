// The files of kernels in the C dialect, as embed.cmake puts them into a module
// whose driver compiles them when it runs.
#pragma once

#include <string>

namespace rc::gpu {

struct KernelFile {
  const char* name;  // "linear.cl"; nullptr after the last
  const char* text;
};

// The text of a file with what it includes in place of the directives.
std::string kernel_source(const KernelFile* files, const std::string& name);

}  // namespace rc::gpu
