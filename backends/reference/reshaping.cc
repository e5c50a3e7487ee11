// The same elements in another arrangement or type.
#include <algorithm>
#include <cstring>

#include "reference/ops.h"
#include "tensor/wide.h"

namespace rc::reference {
namespace {

void copy(const Call& call) {
  const Tensor& x = call.inputs[0];
  const Tensor& output = call.outputs[0];
  const int64_t* strides = call.op.params.copy.strides;
  const DTypeInfo& type = *dtype_info(x.dtype);
  const auto bytes = static_cast<size_t>(type.block_bytes);
  const int last = output.rank - 1;
  // A unit is an element or a block.
  const int64_t units = output.columns() / type.block_size;
  for (int64_t v = 0; v < output.vectors(); ++v) {
    call.check_stop();
    int64_t first = 0;
    int64_t rest = v;
    for (int i = last - 1; i >= 0; --i) {
      first += rest % output.shape[i] * strides[i];
      rest /= output.shape[i];
    }
    const std::byte* from = x.data + first / type.block_size * bytes;
    std::byte* to = output.vector(v);
    for (int64_t i = 0; i < units; ++i) {
      std::memcpy(to + i * bytes, from + i * strides[last] * bytes, bytes);
    }
  }
}

void convert(const Call& call) {
  const Tensor& x = call.inputs[0];
  const Tensor& output = call.outputs[0];
  for (int64_t v = 0; v < x.vectors(); ++v) {
    call.check_stop();
    if (x.dtype == RC_DTYPE_F64) {
      encode_row(output.dtype, reinterpret_cast<const double*>(x.vector(v)),
                 output.vector(v), x.columns());
    } else if (output.dtype == RC_DTYPE_F64) {
      decode_row(x.dtype, x.vector(v),
                 reinterpret_cast<double*>(output.vector(v)), x.columns());
    } else if (output.dtype == RC_DTYPE_F32) {
      x.decode(v, output.floats() + v * x.columns());
    } else {
      encode_row(output.dtype, x.floats() + v * x.columns(), output.vector(v),
                 x.columns());
    }
  }
}

void join(const Call& call) {
  const Tensor& a = call.inputs[0];
  const Tensor& b = call.inputs[1];
  float* to = call.outputs[0].floats();
  for (int64_t v = 0; v < a.vectors(); ++v) {
    call.check_stop();
    to = std::copy_n(a.floats() + v * a.columns(), a.columns(), to);
    to = std::copy_n(b.floats() + v * b.columns(), b.columns(), to);
  }
}

void concat(const Call& call) {
  std::byte* to = call.outputs[0].data;
  for (int64_t r = 0; r < call.outputs[0].rows(); ++r) {
    call.check_stop();
    for (const Tensor& input : call.inputs) {
      if (!input) continue;
      const uint64_t bytes = *row_bytes(input.dtype, input.columns());
      std::memcpy(to, input.vector(r), bytes);
      to += bytes;
    }
  }
}

void pad(const Call& call) {
  const Tensor& x = call.inputs[0];
  const Tensor& output = call.outputs[0];
  const auto params = call.op.params.pad;
  const int64_t whole = output.row_size();
  const int64_t own = x.row_size();
  const int64_t before = params.before * output.shape[2];
  for (int64_t r = 0; r < output.rows(); ++r) {
    call.check_stop();
    const auto bytes = static_cast<size_t>(dtype_info(x.dtype)->block_bytes);
    for (int64_t i = r * whole; i < (r + 1) * whole; ++i) {
      output.put(i, params.value);
    }
    std::memcpy(output.data + static_cast<size_t>(r * whole + before) * bytes,
                x.data + static_cast<size_t>(r * own) * bytes,
                static_cast<size_t>(own) * bytes);
  }
}

}  // namespace

std::span<const OpRow> reshaping_ops() {
  static constexpr OpRow kOps[] = {{RC_OP_COPY, copy},
                                   {RC_OP_CONVERT, convert},
                                   {RC_OP_JOIN, join},
                                   {RC_OP_CONCAT, concat},
                                   {RC_OP_PAD, pad}};
  return kOps;
}

}  // namespace rc::reference
