// The view of a tensor that a COPY reads.
#pragma once

#include "cpu/strides.h"
#include "tensor/dtype.h"
#include "tensor/op.h"

namespace rc::cpu {

// `value` is what it makes. In units: elements or blocks.
inline Strided<1> copied_view(const rc_plugin_value& value, const Op& copy) {
  const int64_t block = dtype_info(value.dtype)->block_size;
  Strided<1> view(value.rank);
  for (int i = 0; i < value.rank; ++i) {
    const bool last = i == value.rank - 1;
    const int64_t stride = copy.params.copy.strides[i];
    view.sizes[i] = last ? value.shape[i] / block : value.shape[i];
    view.strides[0][i] = last ? stride : stride / block;
  }
  view.merge();
  return view;
}

// Whether the last two dimensions are those of a matrix whose columns lie in
// memory one after the other.
inline bool is_transposed(const Strided<1>& view) {
  return view.rank >= 2 && view.strides[0][view.rank - 2] == 1 &&
         view.step(0) > 1;
}

}  // namespace rc::cpu
