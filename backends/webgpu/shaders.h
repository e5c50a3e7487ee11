// The kernels in the WebGPU Shading Language, as they travel in the module:
// made from backends/gpu/kernels/glsl when it is built (wgsl/write_wgsl.cc).
#pragma once

#include "gpu/kernel.h"

namespace rc::webgpu {

// What it computes with a Variant's constants is said by constant_0, constant_1
// and so on, which are to be declared; inputs are to be made read-only.
const char* shader_text(gpu::Kernel kernel);

}  // namespace rc::webgpu
