#include "gpu/placement.h"

#include <algorithm>

#include "base/error.h"
#include "gpu/weight.h"

namespace rc::gpu {
namespace {

// Beyond any memory; below, sizes with all padding fit 64 bits.
constexpr uint64_t kMostBytes = UINT64_MAX / 1024;

uint64_t aligned(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

void check_count(const char* what, int64_t count, int64_t limit) {
  if (count < 0 || count > limit) {
    fail(RC_E_INVALID_ARGUMENT, "a run of ", count, " ", what,
         "; the program was compiled for 0 to ", limit);
  }
}

}  // namespace

Placement::Placement(Device& device, const plugin::GivenProgram& program)
    : limits_(program.limits()),
      // plugin.h aligns scratch to 64 bytes.
      scratch_scale_(std::max<uint64_t>(device.alignment() / 64, 1)),
      values_(program.values.size()) {
  if (program.scratch_bytes > kMostBytes) {
    fail(RC_E_DEVICE_MEMORY, program.scratch_bytes,
         " bytes of scratch are more than any device has");
  }
  // A program without scratch, inputs or outputs, such as one tensor op, takes
  // no memory for them.
  if (std::any_of(program.values.begin(), program.values.end(),
                  [](const rc_plugin_value& value) {
                    return value.storage == RC_STORAGE_SCRATCH;
                  })) {
    scratch_ = device.allocate(program.scratch_bytes * scratch_scale_,
                               MemoryUse::kDevice);
  }
  for (const auto& [group, count] :
       {std::pair{&inputs_, program.input_count},
        std::pair{&outputs_, program.output_count}}) {
    group->regions.resize(count);
    group->values.resize(count);
  }
  for (size_t i = 0; i < values_.size(); ++i) place(i, program);
  allocate(device, MemoryUse::kToDevice, &inputs_);
  allocate(device, MemoryUse::kToHost, &outputs_);
  for (Placed& placed : values_) {
    const int32_t index = placed.value.index;
    if (placed.value.storage == RC_STORAGE_INPUT) {
      placed.region = inputs_.regions[index];
    } else if (placed.value.storage == RC_STORAGE_OUTPUT) {
      placed.region = outputs_.regions[index];
    }
  }
}

void Placement::place(size_t number, const plugin::GivenProgram& program) {
  Placed& placed = values_[number];
  placed.value = program.values[number];
  const rc_plugin_value& value = placed.value;
  const uint64_t bytes = value_bytes(value, limits_).value();
  if (bytes > kMostBytes) {
    fail(RC_E_DEVICE_MEMORY, "value ", number, ", ", value_text(value),
         ", is larger than any device");
  }
  switch (value.storage) {
    case RC_STORAGE_WEIGHT:
      placed.weight =
          reinterpret_cast<const Weight*>(program.weights[value.index]);
      break;
    case RC_STORAGE_CACHE:
      placed.region = {
          reinterpret_cast<const Buffer*>(program.caches[value.index]),
          value.offset, bytes, value.index};
      break;
    case RC_STORAGE_SCRATCH:
      placed.region = {scratch_.get(), value.offset * scratch_scale_, bytes};
      break;
    default: {
      Group& group = value.storage == RC_STORAGE_INPUT ? inputs_ : outputs_;
      group.values[value.index] = &placed.value;
      group.regions[value.index].bytes = bytes;
    }
  }
}

void Placement::allocate(Device& device, MemoryUse use, Group* group) {
  if (group->regions.empty()) return;
  uint64_t bytes = 0;
  for (Region& region : group->regions) {
    region.offset = bytes;
    bytes += aligned(region.bytes);
  }
  group->buffer = device.allocate(bytes, use);
  for (Region& region : group->regions) region.buffer = group->buffer.get();
}

std::vector<Transfer> Placement::transfers(const char* what, const Group& group,
                                           const rc_plugin_run& run,
                                           void* const* host) const {
  check_count("rows", run.rows, limits_.rows);
  check_count("outputs", run.outputs, limits_.outputs);
  check_count("sequences", run.sequences, limits_.sequences);
  const Rows rows = {run.rows, run.outputs, run.sequences};
  std::vector<Transfer> found;
  for (size_t i = 0; i < group.values.size(); ++i) {
    if (group.values[i] == nullptr) continue;
    const uint64_t bytes = value_bytes(*group.values[i], rows).value();
    if (bytes == 0) continue;
    if (host == nullptr || host[i] == nullptr) {
      fail(RC_E_INVALID_ARGUMENT, what, " ", i, " of the run is NULL");
    }
    const Region& region = group.regions[i];
    found.push_back({{region.buffer, region.offset, bytes}, host[i]});
  }
  return found;
}

std::vector<Transfer> Placement::inputs(const rc_plugin_run& run) const {
  // They are only read.
  return transfers("input", inputs_, run, const_cast<void* const*>(run.inputs));
}

std::vector<Transfer> Placement::outputs(const rc_plugin_run& run) const {
  return transfers("output", outputs_, run, run.outputs_data);
}

}  // namespace rc::gpu
