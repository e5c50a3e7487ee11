#include "common/given_program.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "tensor/dtype.h"

namespace rc::plugin {

GivenOp::GivenOp(const rc_plugin_op& given,
                 const rc_plugin_value* const* values, size_t count)
    : op(op_from(given)), count_(count) {
  if (count > std::size(values_)) {
    fail(RC_E_UNSUPPORTED, op_name(given.code), " has ", count,
         " values; up to ", std::size(values_), " are possible");
  }
  for (size_t i = 0; i < count; ++i) values_[i] = *values[i];
}

GivenProgram::GivenProgram(const rc_plugin_program& given)
    : weights(given.weights, given.weight_count),
      caches(given.caches, given.cache_count),
      input_count(given.input_count),
      output_count(given.output_count),
      scratch_bytes(given.scratch_bytes),
      max_rows(given.max_rows),
      max_outputs(given.max_outputs),
      max_sequences(given.max_sequences) {
  values.reserve(given.value_count);
  for (size_t i = 0; i < given.value_count; ++i) {
    values.push_back(*given.values[i]);
  }
  ops.reserve(given.op_count);
  for (size_t i = 0; i < given.op_count; ++i) {
    ops.push_back(op_from(*given.ops[i]));
  }
}

void GivenProgram::check(ShapeOf shape_of, BytesOf bytes_of) const {
  check_limits();
  for (size_t i = 0; i < values.size(); ++i) {
    const rc_plugin_value& value = values[i];
    check_value(value);
    const auto bytes = value_bytes(value, limits());
    if (!bytes) {
      fail(RC_E_INVALID_ARGUMENT, "value ", i, ", ", value_text(value),
           ", is too large");
    }
    check_index(i);
    if (value.storage == RC_STORAGE_WEIGHT) check_weight(i, shape_of);
    if (value.storage == RC_STORAGE_CACHE) check_cache(i, *bytes, bytes_of);
    if (value.storage == RC_STORAGE_SCRATCH) check_scratch(i, *bytes);
  }
  for (const Op& op : ops) check_op(op, values);
}

void GivenProgram::check_limits() const {
  constexpr int64_t kMost = INT32_MAX;
  const int64_t least = std::min({max_rows, max_outputs, max_sequences});
  const int64_t most = std::max({max_rows, max_outputs, max_sequences});
  if (max_rows < 1 || least < 0 || most > kMost) {
    fail(RC_E_INVALID_ARGUMENT, "a program for ", max_rows, " rows, ",
         max_outputs, " outputs and ", max_sequences, " sequences; up to ",
         kMost, " are possible, and one row at least");
  }
  if (values.size() > static_cast<size_t>(kMost)) {
    fail(RC_E_INVALID_ARGUMENT, "a program of ", values.size(), " values");
  }
}

void GivenProgram::check_index(size_t number) const {
  const rc_plugin_value& value = values[number];
  if (value.storage == RC_STORAGE_SCRATCH) return;
  const size_t counts[] = {weights.size(), caches.size(), input_count, 0,
                           output_count};
  const size_t count = counts[value.storage];
  if (value.index < 0 || static_cast<size_t>(value.index) >= count) {
    fail(RC_E_INVALID_ARGUMENT, "value ", number, " has index ", value.index,
         " of ", count, " in storage ", value.storage);
  }
}

void GivenProgram::check_weight(size_t number, ShapeOf shape_of) const {
  const rc_plugin_value& value = values[number];
  const rc_plugin_weight* weight = weights[static_cast<size_t>(value.index)];
  if (weight != nullptr) {
    const WeightShape found = shape_of(weight);
    if (found.dtype == value.dtype &&
        std::equal(found.shape.begin(), found.shape.end(), value.shape,
                   value.shape + value.rank)) {
      return;
    }
  }
  fail(RC_E_INVALID_ARGUMENT, "value ", number, ", ", value_text(value),
       ", is not of the type and shape of weight ", value.index);
}

void GivenProgram::check_cache(size_t number, uint64_t bytes,
                               BytesOf bytes_of) const {
  const rc_plugin_value& value = values[number];
  const rc_plugin_buffer* cache = caches[static_cast<size_t>(value.index)];
  const uint64_t size = cache == nullptr ? 0 : bytes_of(cache);
  if (value.offset > size || bytes > size - value.offset) {
    fail(RC_E_INVALID_ARGUMENT, "value ", number, ", ", value_text(value),
         ", needs ", bytes, " bytes at ", value.offset, ", but cache ",
         value.index, " has ", size);
  }
  const DTypeInfo& type = *dtype_info(value.dtype);
  if (value.offset % static_cast<uint64_t>(type.block_bytes) != 0) {
    fail(RC_E_INVALID_ARGUMENT, "value ", number, ", ", value_text(value),
         ", does not begin at an element or block, but at byte ", value.offset);
  }
}

void GivenProgram::check_scratch(size_t number, uint64_t bytes) const {
  const uint64_t offset = values[number].offset;
  if (offset % 64 != 0 || offset > scratch_bytes ||
      bytes > scratch_bytes - offset) {
    fail(RC_E_INVALID_ARGUMENT, "value ", number, " takes ", bytes,
         " bytes at ", offset, " of ", scratch_bytes, " bytes of scratch");
  }
}

}  // namespace rc::plugin
