// Chains of backends as people write them: "auto", "vulkan:1", "cuda,cpu:0",
// "GPU,CPU".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rc::runtime {

struct SpecItem {
  std::string name;          // "auto", "gpu", "cpu"
  std::optional<int> index;  // never of "auto" and "gpu"

  // Means devices of any backend.
  bool is_any() const { return name == "auto" || name == "gpu"; }
};

// Whether a spec may use the name and no backend can have it: "auto", "gpu"
// (any GPU), "hip" (rocm).
bool is_reserved_name(std::string_view name);

// Capital letters count as small ones, "hip" as "rocm". Throws
// RC_E_INVALID_ARGUMENT, naming the spec and the part that is wrong. The names
// need not exist. Spaces around parts are allowed.
std::vector<SpecItem> parse_spec(std::string_view spec);

}  // namespace rc::runtime
