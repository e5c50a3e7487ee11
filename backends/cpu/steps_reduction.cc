// Steps of tensor ops over one dimension.
//
// A tensor is [outer, n, inner]. Where inner is 1 a line is done by a kernel;
// else a strip of columns at a time, row after row, so that memory is read as
// it lies.
#include <algorithm>
#include <cmath>

#include "cpu/compiler.h"
#include "cpu/kernels.h"
#include "cpu/numbers.h"
#include "cpu/sums.h"

namespace rc::cpu {
namespace {

constexpr int64_t kStrip = 256;  // columns

// NaN is larger than every number.
bool larger(float a, float b) {
  return a > b || (std::isnan(a) && !std::isnan(b));
}

void sum_strip(const float* x, int64_t n, int64_t inner, int64_t width,
               double divisor, float* y) {
  double sums[kStrip] = {};
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < width; ++j) sums[j] += x[i * inner + j];
  }
  for (int64_t j = 0; j < width; ++j) {
    y[j] = static_cast<float>(sums[j] / divisor);
  }
}

void max_strip(const float* x, int64_t n, int64_t inner, int64_t width,
               float* y) {
  std::copy_n(x, width, y);
  for (int64_t i = 1; i < n; ++i) {
    for (int64_t j = 0; j < width; ++j) {
      const float next = x[i * inner + j];
      if (larger(next, y[j])) y[j] = next;
    }
  }
}

void argmax_strip(const float* x, int64_t n, int64_t inner, int64_t width,
                  int32_t* y) {
  float most[kStrip];
  std::copy_n(x, width, most);
  std::fill_n(y, width, 0);
  for (int64_t i = 1; i < n; ++i) {
    for (int64_t j = 0; j < width; ++j) {
      const float next = x[i * inner + j];
      if (!larger(next, most[j])) continue;
      most[j] = next;
      y[j] = static_cast<int32_t>(i);
    }
  }
}

void add_sums(Compiler& c, const Op& op) {
  const Sums of(op, c.values());
  const int64_t pieces = of.pieces();
  const Place x = c.place(op.inputs[0]);
  const Place y = c.place(op.outputs[0]);
  auto* sums = reinterpret_cast<double*>(c.area_of(product(
      product(static_cast<uint64_t>(of.lines), pieces), sizeof(double))));
  c.add(
      {c.area(op.inputs[0])}, {c.own_area(op.inputs[0])},
      [=](const Run&) { return of.cost(); },
      [=](const Run&) { return of.lines * pieces; },
      [=](Run& run, const Share& share) {
        const float* from = run.at<const float>(x);
        run.each_row(share, [&](int64_t unit) {
          sums[unit] =
              of.of_piece(run.kernels, from, unit / pieces, unit % pieces);
        });
      });
  c.add(
      {c.own_area(op.inputs[0])}, {c.area(op.outputs[0])},
      [=](const Run&) { return of.lines * pieces; },
      [=](const Run&) { return of.lines; },
      [=](Run& run, const Share& share) {
        run.each_row(share, [&](int64_t line) {
          double total = 0;
          for (int64_t i = 0; i < pieces; ++i) {
            total += sums[line * pieces + i];
          }
          run.at<float>(y)[line] = of.result(total);
        });
      });
}

void add_lines(Compiler& c, const Op& op) {
  const int64_t* shape = c.value(op.inputs[0]).shape;
  const int64_t outer = shape[0];
  const int64_t n = shape[1];
  const int64_t inner = shape[2];
  const int64_t strips = inner / kStrip + (inner % kStrip != 0);
  const bool places = op.code == RC_OP_ARGMAX;
  const int32_t function = places ? RC_REDUCE_MAX : op.params.reduce.function;
  const double divisor =
      function == RC_REDUCE_MEAN ? static_cast<double>(n) : 1.0;
  const Place x = c.place(op.inputs[0]);
  const Place y = c.place(op.outputs[0]);
  c.add(
      {c.area(op.inputs[0])}, {c.area(op.outputs[0])},
      [=](const Run&) { return outer * n * inner; },
      [=](const Run&) { return outer * strips; },
      [=](Run& run, const Share& share) {
        run.each_row(share, [&](int64_t unit) {
          const int64_t column = unit % strips * kStrip;
          const int64_t width = std::min(kStrip, inner - column);
          const float* from =
              run.at<const float>(x) + unit / strips * n * inner + column;
          const int64_t to = unit / strips * inner + column;
          if (places) {
            argmax_strip(from, n, inner, width, run.at<int32_t>(y) + to);
          } else if (function == RC_REDUCE_MAX) {
            max_strip(from, n, inner, width, run.at<float>(y) + to);
          } else {
            sum_strip(from, n, inner, width, divisor, run.at<float>(y) + to);
          }
        });
      });
}

void add_softmax(Compiler& c, const Op& op) {
  const int64_t* shape = c.value(op.inputs[0]).shape;
  const int64_t outer = shape[0];
  const int64_t n = shape[1];
  const int64_t inner = shape[2];
  const Place x = c.place(op.inputs[0]);
  const Place y = c.place(op.outputs[0]);
  const ThreadScratch scratch = c.thread_scratch();
  c.add(
      {c.area(op.inputs[0])}, {c.area(op.outputs[0])},
      [=](const Run&) { return outer * n * inner * 4; },
      [=](const Run&) { return outer * inner; },
      [=](Run& run, const Share& share) {
        run.each_row(share, [&](int64_t line) {
          const int64_t first = line / inner * n * inner + line % inner;
          const float* from = run.at<const float>(x) + first;
          float* to = run.at<float>(y) + first;
          if (inner == 1) return run.kernels.softmax(from, n, to);
          float* dense = scratch.of<float>(share.thread);
          for (int64_t i = 0; i < n; ++i) dense[i] = from[i * inner];
          run.kernels.softmax(dense, n, dense);
          for (int64_t i = 0; i < n; ++i) to[i * inner] = dense[i];
        });
      });
}

void add_layer_norm(Compiler& c, const Op& op) {
  const auto params = op.params.layer_norm;
  const int64_t n = c.columns(op.inputs[0]);
  const int64_t lines =
      c.row_elements(op.inputs[0]) * c.value(op.inputs[0]).shape[0] / n;
  const bool has_weight = op.inputs[1] >= 0;
  const bool has_bias = op.inputs[2] >= 0;
  const Place x = c.place(op.inputs[0]);
  const Place weight = has_weight ? c.place(op.inputs[1]) : Place{};
  const Place bias = has_bias ? c.place(op.inputs[2]) : Place{};
  const Place y = c.place(op.outputs[0]);
  std::vector<Area> reads = {c.area(op.inputs[0])};
  if (has_weight) reads.push_back(c.area(op.inputs[1]));
  if (has_bias) reads.push_back(c.area(op.inputs[2]));
  c.add(
      std::move(reads), {c.area(op.outputs[0])},
      [=](const Run&) { return lines * n * 2; },
      [=](const Run&) { return lines; },
      [=](Run& run, const Share& share) {
        const float* from = run.at<const float>(x);
        const float* factors =
            has_weight ? run.at<const float>(weight) : nullptr;
        const float* added = has_bias ? run.at<const float>(bias) : nullptr;
        float* to = run.at<float>(y);
        run.each_row(share, [&](int64_t line) {
          run.kernels.layer_norm(from + line * n, factors, added, n,
                                 params.epsilon, params.center, to + line * n);
        });
      });
}

bool is_f32(const Compiler& c, const Op& op) {
  return c.value(op.inputs[0]).dtype == RC_DTYPE_F32;
}

void compile_layer_norm(Compiler& c, const Op& op) {
  is_f32(c, op) ? add_layer_norm(c, op) : numbers::compile_reduction(c, op);
}

void compile_softmax(Compiler& c, const Op& op) {
  is_f32(c, op) ? add_softmax(c, op) : numbers::compile_reduction(c, op);
}

uint64_t softmax_scratch(const Compiler& c, const Op& op) {
  const rc_plugin_value& x = c.value(op.inputs[0]);
  return x.shape[2] > 1 && is_f32(c, op) ? product(x.shape[1], sizeof(float))
                                         : 0;
}

void compile_reduce(Compiler& c, const Op& op) {
  if (!is_f32(c, op)) return numbers::compile_reduction(c, op);
  Sums::are(op, c.values()) ? add_sums(c, op) : add_lines(c, op);
}

void compile_argmax(Compiler& c, const Op& op) {
  is_f32(c, op) ? add_lines(c, op) : numbers::compile_reduction(c, op);
}

}  // namespace

std::span<const OpRow> reduction_ops() {
  static constexpr OpRow kOps[] = {{.code = RC_OP_LAYER_NORM,
                                    .form = OpRow::kOnTensors,
                                    .compile = compile_layer_norm},
                                   {.code = RC_OP_SOFTMAX,
                                    .form = OpRow::kOnTensors,
                                    .compile = compile_softmax,
                                    .scratch = softmax_scratch},
                                   {.code = RC_OP_REDUCE,
                                    .form = OpRow::kOnTensors,
                                    .compile = compile_reduce},
                                   {.code = RC_OP_ARGMAX,
                                    .form = OpRow::kOnTensors,
                                    .compile = compile_argmax}};
  return kOps;
}

}  // namespace rc::cpu
