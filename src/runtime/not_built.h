// Backends that the sources have and this build has not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rc::runtime {

struct NotBuilt {
  std::string name;    // "vulkan"
  std::string reason;  // "not built: ...", or another
};

// Of this build.
const std::vector<NotBuilt>& not_built();

// From what the build says: "vulkan=glslc|opencl=opencl-c-headers", what was
// missing, or "webgpu:it takes threads", the reason itself.
std::vector<NotBuilt> parse_not_built(std::string_view list);

}  // namespace rc::runtime
