// Ops over one dimension of a tensor.
#include <algorithm>
#include <cmath>
#include <limits>

#include "common/long_sum.h"
#include "common/norm_scale.h"
#include "reference/ops.h"

namespace rc::reference {
namespace {

// The middle dimension of [outer, n, inner], once for each of the others.
template <class Function>
void each_line(const Call& call, Function function) {
  const Tensor& x = call.inputs[0];
  const int64_t n = x.shape[1];
  const int64_t inner = x.shape[2];
  for (int64_t outer = 0; outer < x.shape[0]; ++outer) {
    call.check_stop();
    for (int64_t i = 0; i < inner; ++i) {
      // First element, number of the line, distance from element to element.
      function(outer * n * inner + i, outer * inner + i, inner);
    }
  }
}

// NaN is larger than every number.
bool larger(double a, double b) {
  return a > b || (std::isnan(a) && !std::isnan(b));
}

void layer_norm(const Call& call) {
  const Tensor& x = call.inputs[0];
  const Tensor& weight = call.inputs[1];
  const Tensor& bias = call.inputs[2];
  const int64_t d = x.columns();
  const auto count = static_cast<double>(d);
  for (int64_t v = 0; v < x.vectors(); ++v) {
    call.check_stop();
    const int64_t first = v * d;
    const auto epsilon = static_cast<double>(call.op.params.layer_norm.epsilon);
    double mean = 0, square = 0;
    const auto measure = [&](double scale) {
      mean = 0;
      if (call.op.params.layer_norm.center != 0) {
        for (int64_t i = 0; i < d; ++i) mean += x.number(first + i) * scale;
        mean /= count;
      }
      double squares = 0;
      for (int64_t i = 0; i < d; ++i) {
        const double distance = x.number(first + i) * scale - mean;
        squares += distance * distance;
      }
      square = squares / count + epsilon * scale * scale;
    };
    measure(1);
    const double scale = norm_scale(square);
    if (scale != 1) measure(scale);
    const double factor = 1 / std::sqrt(square);
    for (int64_t i = 0; i < d; ++i) {
      double y = (x.number(first + i) * scale - mean) * factor;
      if (weight) y *= weight.number(i);
      if (bias) y += bias.number(i);
      call.outputs[0].put(first + i, y);
    }
  }
}

void softmax(const Call& call) {
  const Tensor& x = call.inputs[0];
  const int64_t n = x.shape[1];
  each_line(call, [&](int64_t first, int64_t, int64_t step) {
    const int64_t end = first + n * step;
    double most = x.number(first);
    for (int64_t i = first; i < end; i += step) {
      most = std::max(most, x.number(i));
    }
    double total = 0;
    for (int64_t i = first; i < end; i += step) {
      total += std::exp(x.number(i) - most);
    }
    for (int64_t i = first; i < end; i += step) {
      call.outputs[0].put(i, std::exp(x.number(i) - most) / total);
    }
  });
}

void reduce(const Call& call) {
  const Tensor& x = call.inputs[0];
  const int64_t n = x.shape[1];
  const int32_t function = call.op.params.reduce.function;
  each_line(call, [&](int64_t first, int64_t line, int64_t step) {
    const int64_t end = first + n * step;
    LongSum sum;
    double most = x.number(first);
    for (int64_t i = first; i < end; i += step) {
      const double next = x.number(i);
      sum.add(next);
      if (larger(next, most)) most = next;
    }
    double result = sum.rounded();
    if (function == RC_REDUCE_MEAN) result /= static_cast<double>(n);
    call.outputs[0].put(line, function == RC_REDUCE_MAX ? most : result);
  });
}

void argmax(const Call& call) {
  const Tensor& x = call.inputs[0];
  auto* y = reinterpret_cast<int32_t*>(call.outputs[0].data);
  const int64_t n = call.inputs[0].shape[1];
  each_line(call, [&](int64_t first, int64_t line, int64_t step) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; ++i) {
      if (larger(x.number(first + i * step), x.number(first + best * step))) {
        best = i;
      }
    }
    y[line] = static_cast<int32_t>(best);
  });
}

}  // namespace

std::span<const OpRow> reduction_ops() {
  static constexpr OpRow kOps[] = {{RC_OP_LAYER_NORM, layer_norm},
                                   {RC_OP_SOFTMAX, softmax},
                                   {RC_OP_REDUCE, reduce},
                                   {RC_OP_ARGMAX, argmax}};
  return kOps;
}

}  // namespace rc::reference
