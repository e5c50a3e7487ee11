// COPY, CONVERT, and GET_ROWS of tensors.
#include <algorithm>

#include "opencl/arguments.h"
#include "opencl/compiler.h"
#include "opencl/walk.h"
#include "tensor/dtype.h"

namespace rc::opencl {
namespace {

// Work-items of a row of a range that has no rows of its own; see flat.cl.
constexpr int64_t kWidth = 256;

struct Unit {
  uint64_t bytes;
  const char* type;
};

// The largest that divides the elements or blocks of a type.
Unit unit_of(const DTypeInfo& type) {
  for (const Unit unit : {Unit{8, "ulong"}, {4, "uint"}, {2, "ushort"}}) {
    if (static_cast<uint64_t>(type.block_bytes) % unit.bytes == 0) return unit;
  }
  return {1, "uchar"};
}

}  // namespace

Step Compiler::copy(const Op& op) {
  const rc_plugin_value& x = input(op, 0);
  const rc_plugin_value& y = output(op);
  const DTypeInfo& type = *dtype_info(x.dtype);
  const Unit unit = unit_of(type);
  const auto units = static_cast<int64_t>(type.block_bytes / unit.bytes);
  // From elements to units. Rows of blocks are dense.
  Strides strides = {};
  int64_t shape[RC_PLUGIN_MAX_RANK];
  const int last = y.rank - 1;
  for (int i = 0; i < y.rank; ++i) {
    shape[i] = y.shape[i];
    strides[i] = op.params.copy.strides[i];
    if (type.block_size > 1 && i < last) {
      strides[i] = strides[i] / type.block_size * units;
    }
  }
  if (type.block_size > 1) shape[last] = shape[last] / type.block_size * units;
  const Walk walk(shape, y.rank, {strides});
  const Place from = place(op.inputs[0], unit.bytes);
  const Place to = place(op.outputs[0], unit.bytes);
  Step step = walk.step(
      device_.library().kernel("copy.cl", "copy",
                               cat(Walk::definitions(), " -DUNIT=", unit.type)),
      tuning_, tuning_.lanes);
  set_arguments(step.narrow.kernel, 0, from.memory, from.offset, to.memory,
                to.offset, walk.sizes(), walk.strides(0));
  return step;
}

Step Compiler::convert(const Op& op) {
  const rc_plugin_value& x = input(op, 0);
  const rc_plugin_value& y = output(op);
  const bool decoding = y.dtype == RC_DTYPE_F32;
  const rc_dtype dtype = decoding ? x.dtype : y.dtype;
  const int64_t block = dtype_info(dtype)->block_size;
  const int64_t elements = product_of(x, 0, x.rank);
  // Elements of a work-item; decoders take chunks of 32 or 64.
  const int64_t share = block == 1 ? tuning_.lanes : decoding ? 32 : block;
  const int64_t parts = (elements + share - 1) / share;
  const std::string definitions =
      cat(type_definitions(dtype, 1), definition("PER_ITEM", tuning_.lanes),
          definition("WIDTH", kWidth),
          decoding ? "" : device_.library().exact_division());
  Step step;
  step.narrow = range(
      decoding
          ? device_.library().kernel("decode.cl", "decode", definitions, 1)
          : device_.library().kernel("encode.cl", "encode", definitions, 1),
      kWidth, tuning_.plain);
  step.dimension = (parts + kWidth - 1) / kWidth;
  step.cost = static_cast<uint64_t>(kWidth * share);
  const Place from = place(op.inputs[0], decoding ? 1 : sizeof(cl_float));
  const Place to = place(op.outputs[0], decoding ? sizeof(cl_float) : 1);
  set_arguments(step.narrow.kernel, 0, from.memory, from.offset, to.memory,
                to.offset, static_cast<cl_ulong>(elements));
  return step;
}

Step Compiler::get_tensor_rows(const Op& op) {
  const rc_plugin_value& table = input(op, 0);
  Step step = decode_rows(op, place(op.inputs[0], 1), 1,
                          row_bytes(table.dtype, table.shape[1]).value());
  step.dimension = input(op, 1).shape[0];
  return step;
}

}  // namespace rc::opencl
