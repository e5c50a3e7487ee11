// The same elements in another arrangement or type.
#include <algorithm>
#include <cstring>

#include "reference/ops.h"

namespace rc::reference {

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
    if (output.dtype == RC_DTYPE_F32) {
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

}  // namespace rc::reference
