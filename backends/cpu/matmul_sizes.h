// The sizes of a MATMUL: a [batch, m, k] and b [b_batch, k, n], or [b_batch, n,
// k] if it is transposed, of which one of dimension 1 serves for all.
#pragma once

#include <cstdint>

#include "cpu/compiler.h"

namespace rc::cpu {

struct MatmulSizes {
  int64_t batch, b_batch, m, k, n;
  bool transposed;

  MatmulSizes(const rc_plugin_value& a, const rc_plugin_value& b, const Op& op)
      : batch(a.shape[0]),
        b_batch(b.shape[0]),
        m(a.shape[1]),
        k(a.shape[2]),
        transposed(op.params.matmul.transposed != 0) {
    n = b.shape[transposed ? 1 : 2];
  }
  MatmulSizes(const Compiler& c, const Op& op)
      : MatmulSizes(c.value(op.inputs[0]), c.value(op.inputs[1]), op) {}

  // Of a step of F32: multiplications and additions of 16 lanes.
  int64_t cost() const { return batch * n * (m + 4) * (k / 16 + 1); }
};

}  // namespace rc::cpu
