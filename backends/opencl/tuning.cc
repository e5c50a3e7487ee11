#include "opencl/tuning.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "base/error.h"

namespace rc::opencl {
namespace {

constexpr const char* kVariable = "RUNCIBLE_OPENCL_TUNING";

// Processors: PoCL runs a group in one thread, and vectors of the kernel's own
// are better than those it would make of work-items.
Tuning processor_tuning(cl_device_id device) {
  const auto width =
      device_property<cl_uint>(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
  Tuning tuning;
  tuning.vector = width >= 16 ? 16 : width >= 8 ? 8 : 4;
  tuning.tile = tuning.vector;
  // As many sums as there are registers for.
  tuning.batch = tuning.vector == 16 ? 8 : 4;
  tuning.few = 2;
  tuning.product_lanes = tuning.parts = tuning.reduce = tuning.attention = 1;
  tuning.plain = 8;
  // The angles of a row are computed once.
  tuning.rope_heads = UINT32_MAX;
  tuning.scan_parts = 1;
  tuning.product_rows = 128;
  tuning.product_columns = 64;
  tuning.product_depth = 64;
  return tuning;
}

Tuning gpu_tuning() {
  Tuning tuning;
  tuning.few = 4;
  tuning.reduce = 64;
  tuning.attention = 32;
  tuning.product_lanes = 32;
  tuning.product_rows = tuning.product_columns = 64;
  tuning.product_depth = 32;
  return tuning;
}

void check_tuning(const Tuning& tuning) {
  const uint32_t lanes = tuning.vector;
  if ((lanes != 1 && lanes != 4 && lanes != 8 && lanes != 16) ||
      tuning.tile % lanes != 0) {
    fail(RC_E_INVALID_ARGUMENT, kVariable, ": ", lanes, " lanes and tiles of ",
         tuning.tile,
         " rows; lanes are 1, 4, 8 or 16, and a tile a multiple of them");
  }
  if (!std::has_single_bit(tuning.batch)) {
    fail(RC_E_INVALID_ARGUMENT, kVariable, ": a batch of ", tuning.batch,
         " rows; there are kernels for 1, 2, 4 and 8");
  }
  if (tuning.product_rows % 4 != 0 || tuning.product_columns % 64 != 0 ||
      tuning.product_depth % 32 != 0) {
    fail(RC_E_INVALID_ARGUMENT, kVariable, ": tiles of products of ",
         tuning.product_rows, " rows, ", tuning.product_columns,
         " columns and depth ", tuning.product_depth,
         "; they are multiples of 4, 64 and 32");
  }
  gpu::check_matrices(kVariable, tuning);
}

// Makes groups as small as the device wants them.
void fit(cl_device_id device, Tuning* tuning) {
  const auto limit = static_cast<uint32_t>(std::min<size_t>(
      device_property<size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE), 4096));
  tuning->product_lanes = std::min(tuning->product_lanes, limit);
  tuning->parts =
      std::clamp(limit / (tuning->tile / tuning->vector), 1u, tuning->parts);
  for (uint32_t* items :
       {&tuning->reduce, &tuning->attention, &tuning->plain}) {
    *items = std::min(*items, limit);
  }
  // Work-items of a tile, at most, and its bytes of local memory.
  const auto items = [&] {
    return tuning->product_rows / 4 * (tuning->product_columns / 4);
  };
  const auto bytes = [&] {
    return (uint64_t{tuning->product_rows} * (tuning->product_depth + 1) +
            uint64_t{tuning->product_columns + 1} * tuning->product_depth) *
           sizeof(cl_float);
  };
  tuning->local_bytes =
      device_property<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE);
  if (tuning->matrices != 0 &&
      (limit < gpu::kMatrixLanes || tuning->local_bytes < gpu::kMatrixBytes)) {
    fail(RC_E_INVALID_ARGUMENT, kVariable, ": products of matrices take ",
         gpu::kMatrixLanes, " work-items and ", gpu::kMatrixBytes,
         " bytes of local memory in a work-group; the device has ", limit,
         " and ", tuning->local_bytes);
  }
  while (tuning->product_rows > 4 &&
         (items() > limit || bytes() > tuning->local_bytes)) {
    tuning->product_rows = tuning->product_rows / 8 * 4;
  }
}

}  // namespace

Tuning tuning_for(cl_device_id device) {
  const auto type = device_property<cl_device_type>(device, CL_DEVICE_TYPE);
  Tuning tuning = (type & CL_DEVICE_TYPE_CPU) != 0 ? processor_tuning(device)
                                                   : gpu_tuning();
  // Some devices count work-groups in 16 bits.
  tuning.groups = 65535;
  constexpr uint32_t kMost = 9999;
  if (const char* text = std::getenv(kVariable)) {
    gpu::apply_choices(kVariable, text,
                       {{"lanes", &tuning.vector, 1, 16},
                        {"tile", &tuning.tile, 1, kMost},
                        {"batch", &tuning.batch, 1, 8},
                        {"few", &tuning.few, 1, kMost},
                        {"matrices", &tuning.matrices, 0, kMost},
                        {"product_lanes", &tuning.product_lanes, 1, kMost},
                        {"parts", &tuning.parts, 1, kMost},
                        {"reduce", &tuning.reduce, 1, kMost},
                        {"attention", &tuning.attention, 1, kMost},
                        {"plain", &tuning.plain, 1, kMost},
                        {"product_rows", &tuning.product_rows, 1, kMost},
                        {"product_columns", &tuning.product_columns, 1, kMost},
                        {"product_depth", &tuning.product_depth, 1, kMost},
                        {"groups", &tuning.groups, 1, kMost},
                        {"allocation", &tuning.allocation, 1, kMost}});
  }
  check_tuning(tuning);
  fit(device, &tuning);
  tuning.each = tuning.vector;
  tuning.decode_each = 64;
  tuning.line_part = 4096;
  // Wide products have enough to do.
  tuning.batch_parts = 1;
  tuning.route = 1;
  if (tuning.plain < tuning.scan_parts) tuning.scan_parts = 1;
  tuning.scan = tuning.plain / tuning.scan_parts * tuning.scan_parts;
  // Kernels count bytes of what is bound in 32 bits, to the end of the last
  // group, which has less than these.
  constexpr uint32_t kGroupBytes = 16 << 20;
  tuning.range = UINT32_MAX - kGroupBytes;
  return tuning;
}

}  // namespace rc::opencl
