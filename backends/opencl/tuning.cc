#include "opencl/tuning.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/text_stream.h"

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
          .elements = 8,
          .product_rows = 128,
          .product_columns = 64,
          .product_depth = 64,
          .groups = 65535,
          .allocation = 0,
          .local_bytes = 0};
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
          .elements = 64,
          .product_rows = 64,
          .product_columns = 64,
          .product_depth = 32,
          .groups = 65535,
          .allocation = 0,
          .local_bytes = 0};
}

struct Name {
  const char* name;
  int Tuning::*member;
};
constexpr Name kNames[] = {{"lanes", &Tuning::lanes},
                           {"tile", &Tuning::tile},
                           {"rows", &Tuning::rows},
                           {"tiled_from", &Tuning::tiled_from},
                           {"linear", &Tuning::linear},
                           {"slices", &Tuning::slices},
                           {"norm", &Tuning::norm},
                           {"attention", &Tuning::attention},
                           {"elements", &Tuning::elements},
                           {"product_rows", &Tuning::product_rows},
                           {"product_columns", &Tuning::product_columns},
                           {"product_depth", &Tuning::product_depth},
                           {"groups", &Tuning::groups},
                           {"allocation", &Tuning::allocation}};

void change(Tuning& tuning, const std::string& text) {
  std::istringstream items = text_stream(text);
  for (std::string item; std::getline(items, item, ',');) {
    const size_t equals = item.find('=');
    const std::string name = item.substr(0, equals);
    const std::string digits =
        equals == std::string::npos ? "" : item.substr(equals + 1);
    const auto* found =
        std::find_if(std::begin(kNames), std::end(kNames),
                     [&](const Name& known) { return name == known.name; });
    const bool number =
        !digits.empty() && digits.size() <= 4 &&
        digits.find_first_not_of("0123456789") == std::string::npos;
    if (found == std::end(kNames) || !number || std::stoi(digits) < 1) {
      std::string names;
      for (const Name& known : kNames) names += cat(known.name, ", ");
      fail(RC_E_INVALID_ARGUMENT, "RUNCIBLE_OPENCL_TUNING: \"", item,
           "\" is none of ", names, "with a positive number, as in \"rows=4\"");
    }
    tuning.*found->member = std::stoi(digits);
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
  if (tuning.product_rows % 4 != 0 || tuning.product_columns % 64 != 0 ||
      tuning.product_depth % 32 != 0) {
    fail(RC_E_INVALID_ARGUMENT, "RUNCIBLE_OPENCL_TUNING: tiles of products of ",
         tuning.product_rows, " rows, ", tuning.product_columns,
         " columns and depth ", tuning.product_depth,
         "; they are multiples of 4, 64 and 32");
  }
  const auto limit = static_cast<int>(std::min<size_t>(
      device_property<size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE), 4096));
  tuning.linear = std::min(tuning.linear, limit);
  tuning.slices = std::min(tuning.slices, limit / tuning.linear);
  for (int* items : {&tuning.norm, &tuning.attention, &tuning.elements}) {
    *items = std::min(*items, limit);
  }
  // Work-items of a tile, at most, and its bytes of local memory.
  const auto items = [&] {
    return tuning.product_rows / 4 * (tuning.product_columns / 4);
  };
  const auto bytes = [&] {
    return (static_cast<cl_ulong>(tuning.product_rows) *
                (tuning.product_depth + 1) +
            static_cast<cl_ulong>(tuning.product_columns + 1) *
                tuning.product_depth) *
           sizeof(cl_float);
  };
  tuning.local_bytes =
      device_property<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE);
  while (tuning.product_rows > 4 &&
         (items() > limit || bytes() > tuning.local_bytes)) {
    tuning.product_rows = tuning.product_rows / 8 * 4;
  }
  return tuning;
}

}  // namespace rc::opencl
