#include "host_device.h"

#include <bit>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "buffer.h"
#include "gpu/dispatch.h"
#include "recording.h"

namespace rc::host {
namespace {

constexpr const char* kVariable = "RUNCIBLE_HOST_TUNING";

// As on GPUs, where lanes share all that they can, in small.
gpu::Tuning tuning_of_environment(uint32_t* seed) {
  gpu::Tuning tuning;
  tuning.tile = 8;
  tuning.batch = 4;
  tuning.few = 2;
  tuning.parts = 4;
  tuning.reduce = 8;
  tuning.attention = 4;
  tuning.plain = 16;
  tuning.scan_parts = 4;
  tuning.decode_each = 64;
  tuning.line_part = 64;
  tuning.product_lanes = 4;
  tuning.product_rows = 8;
  tuning.product_columns = 64;
  tuning.product_depth = 32;
  uint32_t range = UINT32_MAX;
  constexpr uint32_t kMost = 1024;
  if (const char* text = std::getenv(kVariable)) {
    gpu::apply_choices(kVariable, text,
                       {{"seed", seed, 0, UINT32_MAX},
                        {"lanes", &tuning.vector, 1, 16},
                        {"tile", &tuning.tile, 1, kMost},
                        {"batch", &tuning.batch, 1, 8},
                        {"few", &tuning.few, 1, kMost},
                        {"matrices", &tuning.matrices, 0, kMost},
                        {"parts", &tuning.parts, 1, kMost},
                        {"reduce", &tuning.reduce, 1, kMost},
                        {"attention", &tuning.attention, 1, kMost},
                        {"plain", &tuning.plain, 1, kMost},
                        {"scan_parts", &tuning.scan_parts, 1, kMost},
                        {"range", &range, 1, UINT32_MAX}});
  }
  const uint32_t lanes = tuning.vector;
  if ((lanes != 1 && lanes != 4 && lanes != 8 && lanes != 16) ||
      tuning.tile % lanes != 0 || !std::has_single_bit(tuning.batch)) {
    fail(RC_E_INVALID_ARGUMENT, kVariable, ": ", lanes, " lanes, tiles of ",
         tuning.tile, " rows and batches of ", tuning.batch,
         "; lanes are 1, 4, 8 or 16, a tile is a multiple of them, and a batch "
         "has 1, 2, 4 or 8 rows");
  }
  gpu::check_matrices(kVariable, tuning);
  // Lanes of one work-item cannot share a state.
  if (lanes > 1 || tuning.plain < tuning.scan_parts) tuning.scan_parts = 1;
  tuning.scan = tuning.plain / tuning.scan_parts * tuning.scan_parts;
  tuning.each = lanes;
  tuning.batch_parts = 1;
  tuning.route = 1;
  tuning.range = range;
  return tuning;
}

}  // namespace

HostDevice::HostDevice(const rc_plugin_open_options& options)
    : packing_(true), profile_(options.profile != 0) {
  uint32_t seed = 1;
  tuning_ = tuning_of_environment(&seed);
  runner_ = std::make_unique<GroupRunner>(seed);
  // Slow enough that a run has several portions.
  speed = 1e6;
}

std::unique_ptr<gpu::Buffer> HostDevice::allocate(uint64_t bytes,
                                                  gpu::MemoryUse) {
  return std::make_unique<Buffer>(bytes);
}

void HostDevice::copy(gpu::Buffer& target, uint64_t target_offset,
                      gpu::Buffer& source, uint64_t source_offset,
                      uint64_t bytes) {
  const std::lock_guard lock(running());
  if (bytes == 0) return;
  std::memcpy(data_of(&target) + target_offset,
              data_of(&source) + source_offset, bytes);
}

void HostDevice::check_supported(
    const Op& op, std::span<const rc_plugin_value> values) const {
  gpu::check_supported(*this, op, values);
}

std::unique_ptr<gpu::Recording> HostDevice::record(
    const gpu::PlacedProgram& program) {
  return std::make_unique<Recording>(*this, program);
}

}  // namespace rc::host
