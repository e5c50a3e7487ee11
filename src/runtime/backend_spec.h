// Chains of backends as people write them: "auto", "vulkan:1", "cuda,cpu:0".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rc::runtime {

struct SpecItem {
  std::string name;          // "auto", "cpu"
  std::optional<int> index;  // never of "auto"
};

// Throws RC_E_INVALID_ARGUMENT, naming the spec and the part that is wrong. The
// names need not exist. Spaces around parts are allowed.
std::vector<SpecItem> parse_spec(std::string_view spec);

}  // namespace rc::runtime
