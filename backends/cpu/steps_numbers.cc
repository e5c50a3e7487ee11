// Steps of tensor ops whose numbers are F64, F16 or BF16, but products.
//
// A tensor of an op over one dimension is [outer, n, inner].
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <new>
#include <vector>

#include "common/long_sum.h"
#include "common/norm_scale.h"
#include "cpu/compiler.h"
#include "cpu/numbers.h"
#include "cpu/sums.h"

namespace rc::cpu::numbers {

void compile_elementwise(Compiler& c, const Op& op) {
  const Elements elements(op, c.values());
  const rc_dtype type = c.value(op.outputs[0]).dtype;
  const int64_t n = elements.columns();
  const int64_t chunks = n / kChunk + (n % kChunk != 0);
  std::vector<Area> reads;
  std::array<Place, Elements::kMost> places;
  for (int k = 0; k < elements.operands(); ++k) {
    reads.push_back(c.area(op.inputs[k]));
    places[static_cast<size_t>(k)] = c.place(op.inputs[k]);
  }
  const Place y = c.place(op.outputs[0]);
  c.add(
      std::move(reads), {c.area(op.outputs[0])},
      [=](const Run&) { return elements.cost() * 2; },
      [=](const Run&) { return elements.lines() * chunks; },
      [=](Run& run, const Share& share) {
        const uint8_t* from[Elements::kMost];
        for (int k = 0; k < elements.operands(); ++k) {
          from[k] = run.at<const uint8_t>(places[static_cast<size_t>(k)]);
        }
        auto* to = run.at<uint8_t>(y);
        run.each_row(share, [&](int64_t unit) {
          const int64_t first = unit % chunks * kChunk;
          compute_elements(run.kernels, elements, type, from, to, unit / chunks,
                           first, std::min(kChunk, n - first));
        });
      });
}

namespace {

// NaN is larger than every number.
bool larger(double a, double b) {
  return a > b || (std::isnan(a) && !std::isnan(b));
}

constexpr int64_t kPiece = Sums::kPiece;

// Four sums side by side, which are then added up.
LongSum sum_of_piece(const double* x, int64_t n, int64_t step) {
  constexpr int kSums = 4;
  LongSum sums[kSums];
  int64_t i = 0;
  for (; i + kSums <= n; i += kSums) {
    for (int k = 0; k < kSums; ++k) sums[k].add(x[(i + k) * step]);
  }
  for (; i < n; ++i) sums[i % kSums].add(x[i * step]);
  for (int k = 1; k < kSums; ++k) sums[0].add(sums[k]);
  return sums[0];
}

double sum_of(const double* x, int64_t n, int64_t step) {
  LongSum total;
  for (int64_t first = 0; first < n; first += kPiece) {
    total.add(
        sum_of_piece(x + first * step, std::min(kPiece, n - first), step));
  }
  return total.rounded();
}

// Sums and means of dense lines, whose pieces are shared out.
void add_sums(Compiler& c, const Op& op) {
  const Sums wanted(op, c.values());
  const int64_t lines = wanted.lines, n = wanted.n, pieces = wanted.pieces();
  const double divisor = wanted.divisor;
  const Place x = c.place(op.inputs[0]);
  const Place y = c.place(op.outputs[0]);
  auto* sums = reinterpret_cast<LongSum*>(c.area_of(product(
      product(static_cast<uint64_t>(lines), static_cast<uint64_t>(pieces)),
      sizeof(LongSum))));
  c.add(
      {c.area(op.inputs[0])}, {c.own_area(op.inputs[0])},
      [=](const Run&) { return lines * (n * 2 + 8); },
      [=](const Run&) { return lines * pieces; },
      [=](Run& run, const Share& share) {
        run.each_row(share, [&](int64_t unit) {
          const int64_t first = unit % pieces * kPiece;
          new (sums + unit) LongSum(
              sum_of_piece(run.at<const double>(x) + unit / pieces * n + first,
                           std::min(kPiece, n - first), 1));
        });
      });
  c.add(
      {c.own_area(op.inputs[0])}, {c.area(op.outputs[0])},
      [=](const Run&) { return lines * pieces; },
      [=](const Run&) { return lines; },
      [=](Run& run, const Share& share) {
        run.each_row(share, [&](int64_t line) {
          LongSum total;
          for (int64_t i = 0; i < pieces; ++i) {
            total.add(sums[line * pieces + i]);
          }
          run.at<double>(y)[line] = total.rounded() / divisor;
        });
      });
}

int64_t place_of_largest(const double* x, int64_t n, int64_t step) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i) {
    if (larger(x[i * step], x[best * step])) best = i;
  }
  return best;
}

void softmax(const double* x, int64_t n, int64_t step, double* y) {
  double most = x[0];
  for (int64_t i = 1; i < n; ++i) most = std::max(most, x[i * step]);
  double total = 0;
  for (int64_t i = 0; i < n; ++i) {
    y[i * step] = std::exp(x[i * step] - most);
    total += y[i * step];
  }
  for (int64_t i = 0; i < n; ++i) y[i * step] /= total;
}

// Calls function(run, first element, number) of each line.
template <class Function>
void add_lines(Compiler& c, const Op& op, int64_t element_cost,
               Function function) {
  const int64_t* shape = c.value(op.inputs[0]).shape;
  const int64_t n = shape[1];
  const int64_t inner = shape[2];
  const int64_t lines = shape[0] * inner;
  const Place x = c.place(op.inputs[0]);
  c.add(
      {c.area(op.inputs[0])}, {c.area(op.outputs[0])},
      [=](const Run&) { return lines * (n * element_cost + 8); },
      [=](const Run&) { return lines; },
      [=](Run& run, const Share& share) {
        run.each_row(share, [&](int64_t line) {
          const int64_t first = line / inner * n * inner + line % inner;
          function(run, run.at<const double>(x) + first, first, line);
        });
      });
}

void add_layer_norm(Compiler& c, const Op& op) {
  const auto params = op.params.layer_norm;
  const int64_t n = c.columns(op.inputs[0]);
  const int64_t lines =
      c.row_elements(op.inputs[0]) * c.value(op.inputs[0]).shape[0] / n;
  std::vector<Area> reads;
  Place places[3] = {};
  bool there[3] = {};
  for (int k = 0; k < 3; ++k) {
    there[k] = op.inputs[k] >= 0;
    if (!there[k]) continue;
    reads.push_back(c.area(op.inputs[k]));
    places[k] = c.place(op.inputs[k]);
  }
  const Place x = places[0], weight = places[1], bias = places[2];
  const bool has_weight = there[1], has_bias = there[2];
  const Place y = c.place(op.outputs[0]);
  c.add(
      std::move(reads), {c.area(op.outputs[0])},
      [=](const Run&) { return lines * n * 8; },
      [=](const Run&) { return lines; },
      [=](Run& run, const Share& share) {
        const double* factors =
            has_weight ? run.at<const double>(weight) : nullptr;
        const double* added = has_bias ? run.at<const double>(bias) : nullptr;
        run.each_row(share, [&](int64_t line) {
          const double* from = run.at<const double>(x) + line * n;
          double* to = run.at<double>(y) + line * n;
          const auto count = static_cast<double>(n);
          const auto epsilon = static_cast<double>(params.epsilon);
          double mean = params.center != 0 ? sum_of(from, n, 1) / count : 0;
          double squares = 0;
          for (int64_t i = 0; i < n; ++i) {
            squares += (from[i] - mean) * (from[i] - mean);
          }
          double square = squares / count + epsilon;
          const double scale = norm_scale(square);
          if (scale != 1) {
            mean = squares = 0;
            for (int64_t i = 0; params.center != 0 && i < n; ++i) {
              mean += from[i] * scale;
            }
            mean /= count;
            for (int64_t i = 0; i < n; ++i) {
              const double distance = from[i] * scale - mean;
              squares += distance * distance;
            }
            square = squares / count + epsilon * scale * scale;
          }
          const double factor = 1 / std::sqrt(square);
          for (int64_t i = 0; i < n; ++i) {
            to[i] = (from[i] * scale - mean) * factor;
            if (factors != nullptr) to[i] *= factors[i];
            if (added != nullptr) to[i] += added[i];
          }
        });
      });
}

}  // namespace

void compile_reduction(Compiler& c, const Op& op) {
  if (op.code == RC_OP_LAYER_NORM) return add_layer_norm(c, op);
  const int64_t n = c.value(op.inputs[0]).shape[1];
  const int64_t step = c.value(op.inputs[0]).shape[2];
  const Place y = c.place(op.outputs[0]);
  const int32_t function = op.params.reduce.function;
  switch (op.code) {
    case RC_OP_SOFTMAX:
      return add_lines(c, op, 16,
                       [=](Run& run, const double* x, int64_t first, int64_t) {
                         softmax(x, n, step, run.at<double>(y) + first);
                       });
    case RC_OP_ARGMAX:
      return add_lines(c, op, 1,
                       [=](Run& run, const double* x, int64_t, int64_t line) {
                         run.at<int32_t>(y)[line] =
                             static_cast<int32_t>(place_of_largest(x, n, step));
                       });
    default:
      if (Sums::are(op, c.values())) return add_sums(c, op);
      return add_lines(c, op, 4,
                       [=](Run& run, const double* x, int64_t, int64_t line) {
                         double result = 0;
                         if (function == RC_REDUCE_MAX) {
                           result = x[place_of_largest(x, n, step) * step];
                         } else {
                           result = sum_of(x, n, step);
                           if (function == RC_REDUCE_MEAN) {
                             result /= static_cast<double>(n);
                           }
                         }
                         run.at<double>(y)[line] = result;
                       });
  }
}

namespace {

// As rank_of of floats (steps_ordering.cc).
uint64_t rank_of(double number) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  constexpr uint64_t kInfinity = 0x7ff0000000000000u;
  const auto bits = std::bit_cast<uint64_t>(number);
  if ((bits & ~kSign) > kInfinity) return UINT64_MAX;
  if (bits == kSign) return kSign;
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

}  // namespace

void compile_order(Compiler& c, const Op& op) {
  const int64_t n = c.value(op.inputs[0]).shape[1];
  const int64_t step = c.value(op.inputs[0]).shape[2];
  const int64_t k = c.value(op.outputs[0]).shape[1];
  const uint64_t turned = op.params.order.falling != 0 ? UINT64_MAX : 0;
  const int64_t depth = std::bit_width(static_cast<uint64_t>(n));
  const Place y = c.place(op.outputs[0]);
  struct Key {
    uint64_t rank;
    int64_t place;
    bool operator<(const Key& other) const {
      return rank != other.rank ? rank < other.rank : place < other.place;
    }
  };
  static_assert(sizeof(Key) == kKeyBytes);
  const ThreadScratch scratch = c.thread_scratch();
  const int64_t lines = c.value(op.inputs[0]).shape[0] * step;
  const Place x = c.place(op.inputs[0]);
  c.add(
      {c.area(op.inputs[0])}, {c.area(op.outputs[0])},
      [=](const Run&) { return lines * n * depth * 4; },
      [=](const Run&) { return lines; },
      [=](Run& run, const Share& share) {
        auto* keys = scratch.of<Key>(share.thread);
        run.each_row(share, [&](int64_t line) {
          const double* from =
              run.at<const double>(x) + line / step * n * step + line % step;
          for (int64_t i = 0; i < n; ++i) {
            keys[i] = {rank_of(from[i * step]) ^ turned, i};
          }
          if (k < n) std::nth_element(keys, keys + k, keys + n);
          std::sort(keys, keys + k);
          int32_t* to =
              run.at<int32_t>(y) + line / step * k * step + line % step;
          for (int64_t i = 0; i < k; ++i) {
            to[i * step] = static_cast<int32_t>(keys[i].place);
          }
        });
      });
}

}  // namespace rc::cpu::numbers
