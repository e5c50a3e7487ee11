// The kernels as code objects for one GPU: made by AMD's compiler when a kernel
// is first needed, and kept in files (gpu/cache_file.h).
#pragma once

#include <string>

#include "gpu/kernel.h"
#include "runcible/plugin.h"

namespace rc::rocm {

// The kernel and all its definitions, which identify the variant.
std::string description(const gpu::Variant& variant);

// `isa` is the GPU as HIP calls it. Throws RC_E_DEVICE with the compiler's
// words if it fails.
std::string code_object(const gpu::Variant& variant, const std::string& isa);

// The same of a kernel that the caller wrote, which is not kept. Throws
// RC_E_FORMAT if it does not compile, after info.log has received why.
std::string code_object(const rc_plugin_kernel_info& info,
                        const std::string& isa);

}  // namespace rc::rocm
