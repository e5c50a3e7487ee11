// The kernels in the WebGPU Shading Language, as they travel in the module, or
// in a separate file next to one of WebAssembly: made from
// backends/gpu/kernels/glsl when it is built (wgsl/write_wgsl.cc).
#pragma once

#include <cstddef>

#include "gpu/kernel.h"

namespace rc::webgpu {

// Before the first use of the others. Throws RC_E_BACKEND_UNAVAILABLE if they
// cannot be had.
void load_shaders();

// Constants of a Variant are constant_0, constant_1 and so on, which are to be
// declared; inputs are to be made read-only.
const char* shader_text(gpu::Kernel kernel);

}  // namespace rc::webgpu
