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

// Of tensors, which are not in tiles.
std::string type_definitions(rc_dtype dtype) {
  return cat(" -DTILE=1 -DTYPE_", dtype_name(dtype));
}

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
  Step made = walk.step(
      device_.library().kernel("copy.cl", "copy",
                               cat(Walk::definitions(), " -DUNIT=", unit.type)),
      tuning_, tuning_.vector);
  set_arguments(made.kernel, 0, from.memory, from.offset, to.memory, to.offset,
                walk.sizes(), walk.strides(0));
  return made;
}

Step Compiler::convert(const Op& op) {
  const rc_plugin_value& x = input(op, 0);
  const rc_plugin_value& y = output(op);
  const bool decoding = y.dtype == RC_DTYPE_F32;
  const rc_dtype dtype = decoding ? x.dtype : y.dtype;
  const int64_t block = dtype_info(dtype)->block_size;
  const int64_t elements = product_of(x, 0, x.rank);
  // Elements of a work-item; decoders take chunks of 32 or 64.
  const int64_t share = block == 1 ? tuning_.vector : decoding ? 32 : block;
  const int64_t parts = (elements + share - 1) / share;
  const std::string definitions =
      cat(type_definitions(dtype), definition("PER_ITEM", tuning_.vector),
          definition("WIDTH", kWidth),
          decoding ? "" : device_.library().exact_division());
  Kernel kernel =
      decoding
          ? device_.library().kernel("decode.cl", "decode", definitions, 1)
          : device_.library().kernel("encode.cl", "encode", definitions, 1);
  Step made = step(std::move(kernel), (parts + kWidth - 1) / kWidth, kWidth,
                   tuning_.plain, static_cast<double>(kWidth * share));
  const Place from = place(op.inputs[0], decoding ? 1 : sizeof(cl_float));
  const Place to = place(op.outputs[0], decoding ? sizeof(cl_float) : 1);
  set_arguments(made.kernel, 0, from.memory, from.offset, to.memory, to.offset,
                static_cast<cl_ulong>(elements));
  return made;
}

Step Compiler::get_tensor_rows(const Op& op) {
  const rc_plugin_value& table = input(op, 0);
  const Place x = place(op.inputs[0], 1);
  const Place ids = place(op.inputs[1]);
  const Place out = place(op.outputs[0]);
  const int64_t d = table.shape[1];
  Step made = step(device_.library().kernel("gather.cl", "gather",
                                            type_definitions(table.dtype), 1),
                   input(op, 1).shape[0],
                   // No type has chunks of less than 32.
                   dtype_info(table.dtype)->block_size == 1 ? d : d / 32,
                   tuning_.plain, static_cast<double>(d));
  set_arguments(made.kernel, 0, x.memory, x.offset,
                cl_ulong{row_bytes(table.dtype, d).value()},
                number(table.shape[0]), number(d), ids.memory, ids.offset,
                out.memory, out.offset);
  return made;
}

}  // namespace rc::opencl
