// REDUCE by sums and means of lines that are dense.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "cpu/kernels.h"
#include "tensor/op.h"

namespace rc::cpu {

// A line is the sum of the sums of its pieces, in order, whichever thread has
// added which of them up.
struct Sums {
  static constexpr int64_t kPiece = int64_t{1} << 14;

  static bool are(const Op& op, std::span<const rc_plugin_value> values) {
    return op.params.reduce.function != RC_REDUCE_MAX &&
           values[op.inputs[0]].shape[2] == 1;
  }
  Sums(const Op& op, std::span<const rc_plugin_value> values)
      : lines(values[op.inputs[0]].shape[0]),
        n(values[op.inputs[0]].shape[1]),
        divisor(op.params.reduce.function == RC_REDUCE_MEAN
                    ? static_cast<double>(n)
                    : 1.0) {}

  int64_t lines, n;
  double divisor;

  int64_t pieces() const { return n / kPiece + (n % kPiece != 0); }
  int64_t cost() const { return lines * (n / 2 + 8); }
  double of_piece(const Kernels& kernels, const float* x, int64_t line,
                  int64_t piece) const {
    const int64_t first = piece * kPiece;
    return kernels.sum(x + line * n + first, std::min(kPiece, n - first));
  }
  float result(double total) const {
    return static_cast<float>(total / divisor);
  }
};

}  // namespace rc::cpu
