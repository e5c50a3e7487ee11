// GLSL to SPIR-V, by a compiler that is loaded when the first kernel needs it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rc::compute {

// "" if there is a compiler, else what is missing.
std::string lacking_glsl_compiler();

// `name` is the file in messages. Throws RC_E_FORMAT with the compiler's words,
// and RC_E_UNSUPPORTED if there is no compiler.
std::vector<uint32_t> compile_glsl(const std::string& name,
                                   const std::string& text);

}  // namespace rc::compute
