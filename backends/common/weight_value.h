// A weight, as it is described when it is loaded, and as ops see it.
#pragma once

#include <algorithm>
#include <iterator>

#include "runcible/plugin.h"

namespace rc {

inline rc_plugin_value weight_value(const rc_plugin_weight_info& info) {
  rc_plugin_value value = {};
  value.dtype = info.dtype;
  value.rank = info.rank;
  std::copy(std::begin(info.shape), std::end(info.shape), value.shape);
  value.storage = RC_STORAGE_WEIGHT;
  return value;
}

}  // namespace rc
