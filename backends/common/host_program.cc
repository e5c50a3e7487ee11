#include "common/host_program.h"

#include "base/error.h"
#include "tensor/value.h"

namespace rc::plugin {
namespace {

void check_count(const char* what, int64_t count, int64_t limit) {
  if (count < 0 || count > limit) {
    fail(RC_E_INVALID_ARGUMENT, "a run of ", count, " ", what,
         "; the program was compiled for 0 to ", limit);
  }
}

}  // namespace

HostProgram::HostProgram(const GivenProgram& program)
    : limits_(program.limits()), values_(program.values) {
  program.check(
      [](const rc_plugin_weight* handle) -> WeightShape {
        const auto* weight = reinterpret_cast<const HostWeight*>(handle);
        return {weight->dtype, weight->shape};
      },
      [](const rc_plugin_buffer* handle) -> uint64_t {
        return reinterpret_cast<const HostBuffer*>(handle)->bytes.size();
      });
  for (rc_plugin_weight* weight : program.weights) {
    weights_.push_back(reinterpret_cast<HostWeight*>(weight));
  }
  for (rc_plugin_buffer* cache : program.caches) {
    caches_.push_back(reinterpret_cast<HostBuffer*>(cache));
  }
  scratch_ = AlignedMemory(program.scratch_bytes);
}

void HostProgram::check_size(const rc_plugin_run& run) const {
  check_count("rows", run.rows, limits_.rows);
  check_count("outputs", run.outputs, limits_.outputs);
  check_count("sequences", run.sequences, limits_.sequences);
}

void HostProgram::check_caches(std::span<HostBuffer* const> caches) const {
  if (caches.size() != caches_.size()) {
    fail(RC_E_INVALID_ARGUMENT, "a run with ", caches.size(),
         " caches of a program with ", caches_.size());
  }
  for (const rc_plugin_value& value : values_) {
    if (value.storage != RC_STORAGE_CACHE) continue;
    const auto index = static_cast<size_t>(value.index);
    const uint64_t end = value.offset + *value_bytes(value, limits_);
    if (caches[index]->bytes.size() >= end) continue;
    fail(RC_E_INVALID_ARGUMENT, "cache ", index, " of the run has ",
         caches[index]->bytes.size(), " bytes; the values of the program take ",
         end);
  }
}

HostValue HostProgram::value(int32_t number, const rc_plugin_run& run,
                             std::span<HostBuffer* const> caches) const {
  if (number < 0) return {};
  const rc_plugin_value& value = values_[static_cast<size_t>(number)];
  const auto index = static_cast<size_t>(value.index);
  HostValue found;
  found.dtype = value.dtype;
  found.rank = value.rank;
  const Rows rows = {run.rows, run.outputs, run.sequences};
  for (int i = 0; i < value.rank; ++i) {
    found.shape[static_cast<size_t>(i)] =
        resolve_dimension(value.shape[i], rows);
  }
  switch (value.storage) {
    case RC_STORAGE_WEIGHT:
      // Only ever read, as inputs are.
      found.data = const_cast<std::byte*>(weights_[index]->bytes);
      break;
    case RC_STORAGE_CACHE:
      found.data = caches[index]->bytes.data() + value.offset;
      break;
    case RC_STORAGE_INPUT:
      if (run.inputs != nullptr) {
        found.data =
            static_cast<std::byte*>(const_cast<void*>(run.inputs[index]));
      }
      break;
    case RC_STORAGE_SCRATCH:
      found.data = scratch_.data() + value.offset;
      break;
    case RC_STORAGE_OUTPUT:
      if (run.outputs_data != nullptr) {
        found.data = static_cast<std::byte*>(run.outputs_data[index]);
      }
      break;
  }
  if (found.data == nullptr && found.shape[0] > 0) {
    fail(RC_E_INVALID_ARGUMENT, "value ", number, ", ", value_text(value),
         ", has no memory");
  }
  return found;
}

}  // namespace rc::plugin
