// Values of programs, for tests of what is refused of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runcible/plugin.h"
#include "tensor/dtype.h"

namespace rc {

inline constexpr int64_t kRows = RC_DIM_ROWS;
// Expected in place of a message: nothing is refused.
inline constexpr char kTaken[] = "";

// Dimensions that a value has no place for are left out.
inline rc_plugin_value value(int32_t storage, DType dtype,
                             const std::vector<int64_t>& shape) {
  rc_plugin_value made = {};
  made.storage = storage;
  made.dtype = dtype;
  made.rank = static_cast<int32_t>(shape.size());
  std::copy_n(shape.begin(), std::min<size_t>(shape.size(), RC_PLUGIN_MAX_RANK),
              made.shape);
  return made;
}

}  // namespace rc
