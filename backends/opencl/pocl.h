// The programs that PoCL, which makes an OpenCL device of processors, needs.
#pragma once

#include <string>

#include "opencl/api.h"

namespace rc::opencl {

// Whether a linker is in one of the folders of `path`, which are separated by
// colons, under a name that PoCL's compiler looks for.
bool has_linker(const std::string& path);

// Whether a platform of this name and version ends the process where it finds
// no linker.
bool ends_without_linker(const std::string& platform,
                         const std::string& version);

// Why nothing may be compiled for the platform; "" if it may. Nothing is
// compiled to find out.
std::string missing_linker(cl_platform_id platform);

}  // namespace rc::opencl
