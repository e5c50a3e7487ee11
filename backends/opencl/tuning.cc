#include "opencl/tuning.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>

#include "base/error.h"

namespace rc::opencl {
namespace {

// Processors: PoCL runs a group in one thread, and vectors of the kernel's own
// are better than those it would make of work-items.
Tuning processor_tuning(cl_device_id device) {
  const auto width =
      device_property<cl_uint>(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
  const int lanes = width >= 16 ? 16 : width >= 8 ? 8 : 4;
  return {.lanes = lanes,
          .tile = lanes,
          // As many sums as there are registers for.
          .rows = lanes == 16 ? 8 : 4,
          .tiled_from = 3,
          .linear = 1,
          .slices = 1,
          .norm = 1,
          .attention = 1,
          .elements = 8};
}

Tuning gpu_tuning() {
  return {.lanes = 1,
          .tile = 64,
          .rows = 8,
          .tiled_from = 5,
          .linear = 32,
          .slices = 4,
          .norm = 64,
          .attention = 32,
          .elements = 64};
}

void change(Tuning& tuning, const std::string& text) {
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    const size_t equals = item.find('=');
    const std::string name = item.substr(0, equals);
    const std::string digits =
        equals == std::string::npos ? "" : item.substr(equals + 1);
    int* const target = name == "lanes"        ? &tuning.lanes
                        : name == "tile"       ? &tuning.tile
                        : name == "rows"       ? &tuning.rows
                        : name == "tiled_from" ? &tuning.tiled_from
                        : name == "linear"     ? &tuning.linear
                        : name == "slices"     ? &tuning.slices
                        : name == "norm"       ? &tuning.norm
                        : name == "attention"  ? &tuning.attention
                        : name == "elements"   ? &tuning.elements
                                               : nullptr;
    const bool number =
        !digits.empty() && digits.size() <= 4 &&
        digits.find_first_not_of("0123456789") == std::string::npos;
    if (target == nullptr || !number || std::stoi(digits) < 1) {
      fail(RC_E_INVALID_ARGUMENT, "RUNCIBLE_OPENCL_TUNING: \"", item,
           "\" is none of lanes, tile, rows, tiled_from, linear, slices, norm, "
           "attention and elements with a positive number, as in \"rows=4\"");
    }
    *target = std::stoi(digits);
  }
}

}  // namespace

Tuning tuning_for(cl_device_id device) {
  const auto type = device_property<cl_device_type>(device, CL_DEVICE_TYPE);
  Tuning tuning = (type & CL_DEVICE_TYPE_CPU) != 0 ? processor_tuning(device)
                                                   : gpu_tuning();
  if (const char* text = std::getenv("RUNCIBLE_OPENCL_TUNING")) {
    change(tuning, text);
  }
  const int lanes = tuning.lanes;
  if ((lanes != 1 && lanes != 4 && lanes != 8 && lanes != 16) ||
      tuning.tile % lanes != 0) {
    fail(RC_E_INVALID_ARGUMENT, "RUNCIBLE_OPENCL_TUNING: ", lanes,
         " lanes and tiles of ", tuning.tile,
         " rows; lanes are 1, 4, 8 or 16, and a tile a multiple of them");
  }
  if (tuning.rows > 8 || (tuning.rows & (tuning.rows - 1)) != 0) {
    fail(RC_E_INVALID_ARGUMENT, "RUNCIBLE_OPENCL_TUNING: ", tuning.rows,
         " rows; there are kernels for 1, 2, 4 and 8");
  }
  const auto limit = static_cast<int>(std::min<size_t>(
      device_property<size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE), 4096));
  tuning.linear = std::min(tuning.linear, limit);
  tuning.slices = std::min(tuning.slices, limit / tuning.linear);
  for (int* items : {&tuning.norm, &tuning.attention, &tuning.elements}) {
    *items = std::min(*items, limit);
  }
  return tuning;
}

}  // namespace rc::opencl
