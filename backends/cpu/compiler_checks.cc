// What is checked of the values of a program before it becomes steps.
#include <algorithm>

#include "cpu/check.h"
#include "cpu/compiler.h"
#include "cpu/failure.h"
#include "tensor/dtype.h"
#include "tensor/op.h"

namespace rc::cpu {

void Compiler::check_storage(int32_t i) const {
  const rc_plugin_value& v = value(i);
  const auto within = [&](size_t count, const char* what) {
    if (v.index < 0 || static_cast<size_t>(v.index) >= count) {
      fail(RC_E_INVALID_ARGUMENT, "value %d is %s %d of %zu", i, what, v.index,
           count);
    }
  };
  switch (v.storage) {
    case RC_STORAGE_WEIGHT: {
      within(program_.weight_count, "weight");
      const rc_plugin_weight* weight = program_.weights[v.index];
      if (weight == nullptr || weight->dtype != v.dtype ||
          weight->rank != v.rank ||
          !std::equal(v.shape, v.shape + v.rank, weight->shape)) {
        fail(RC_E_INVALID_ARGUMENT,
             "value %d differs in type or shape from weight %d", i, v.index);
      }
      return;
    }
    case RC_STORAGE_CACHE: {
      within(program_.cache_count, "cache");
      if (v.shape[0] < 1) {
        fail(RC_E_INVALID_ARGUMENT, "value %d is no cache by its shape", i);
      }
      const uint64_t bytes = max_bytes(i);
      const rc_plugin_buffer* buffer = program_.caches[v.index];
      if (buffer == nullptr || v.offset > buffer->bytes ||
          buffer->bytes - v.offset < bytes) {
        fail(RC_E_INVALID_ARGUMENT, "value %d is larger than cache %d", i,
             v.index);
      }
      const DTypeInfo& type = *dtype_info(v.dtype);
      if (type.block_size == 1 &&
          v.offset % static_cast<uint64_t>(type.block_bytes) != 0) {
        fail(RC_E_INVALID_ARGUMENT,
             "value %d does not begin at an element, but at byte %llu", i,
             static_cast<unsigned long long>(v.offset));
      }
      return;
    }
    case RC_STORAGE_INPUT:
      within(program_.input_count, "input");
      break;
    case RC_STORAGE_OUTPUT:
      within(program_.output_count, "output");
      break;
    case RC_STORAGE_SCRATCH: {
      const uint64_t bytes = max_bytes(i);
      if (v.offset % sizeof(float) != 0 || v.offset > program_.scratch_bytes ||
          bytes > program_.scratch_bytes - v.offset) {
        fail(RC_E_INVALID_ARGUMENT,
             "value %d of %llu bytes at offset %llu is not in the scratch of "
             "%llu bytes",
             i, static_cast<unsigned long long>(bytes),
             static_cast<unsigned long long>(v.offset),
             static_cast<unsigned long long>(program_.scratch_bytes));
      }
      break;
    }
    default:
      fail(RC_E_INVALID_ARGUMENT, "value %d has storage %d", i, v.storage);
  }
  max_bytes(i);
}

void Compiler::check_values() const {
  if (program_.struct_size < sizeof(rc_plugin_program)) {
    fail(RC_E_INVALID_ARGUMENT, "the program has %zu bytes instead of %zu",
         program_.struct_size, sizeof(rc_plugin_program));
  }
  constexpr int64_t kMost = int64_t{1} << 31;
  if (program_.max_rows < 1 || program_.max_rows > kMost ||
      program_.max_outputs < 0 || program_.max_outputs > kMost ||
      program_.max_sequences < 0 || program_.max_sequences > kMost) {
    fail(RC_E_INVALID_ARGUMENT,
         "numbers of rows, outputs or sequences are out of range");
  }
  if (program_.value_count > INT32_MAX) {
    fail(RC_E_INVALID_ARGUMENT, "too many values");
  }
  for (size_t i = 0; i < program_.op_count; ++i) {
    const rc_plugin_op& op = program_.ops[i];
    check_op(op, program_.values, program_.value_count);
    const auto check = [&](int32_t index) {
      if (index < 0) return;
      if (static_cast<size_t>(index) >= program_.value_count) {
        fail(RC_E_INVALID_ARGUMENT, "%s: value %d of %zu", op_name(op.code),
             index, program_.value_count);
      }
      check_storage(index);
    };
    for (int32_t index : op.inputs) check(index);
    for (int32_t index : op.outputs) {
      check(index);
      if (index < 0 ||
          (is_tensor_op(op.code) && value(index).storage == RC_STORAGE_CACHE)) {
        continue;
      }
      if (value(index).storage != RC_STORAGE_SCRATCH &&
          value(index).storage != RC_STORAGE_OUTPUT) {
        fail(RC_E_INVALID_ARGUMENT, "%s writes to value %d of storage %d",
             op_name(op.code), index, value(index).storage);
      }
    }
  }
}

}  // namespace rc::cpu
