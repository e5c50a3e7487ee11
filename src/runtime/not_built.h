// Known backends that this build does not have.
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

// From the words of the build: "vulkan=glslc|opencl=opencl-c-headers", what was
// missing; "webgpu:it takes threads", the reason itself; or "cuda!vulkan", a
// backend that the sources do not have either, and what to use.
std::vector<NotBuilt> parse_not_built(std::string_view list);

}  // namespace rc::runtime
