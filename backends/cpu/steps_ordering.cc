// Steps of tensor ops for which the order of elements along a dimension counts.
//
// A tensor is [outer, n, inner]. What is in the way of a line is gathered into
// scratch memory of the thread first.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "cpu/compiler.h"
#include "cpu/numbers.h"

namespace rc::cpu {
namespace {

constexpr int64_t kSumStrip = 256;  // columns

// Numbers with the order of the floats: NaNs are all the largest, and 0 and -0
// are equal.
uint32_t rank_of(float number) {
  constexpr uint32_t kSign = 0x80000000u;
  constexpr uint32_t kInfinity = 0x7f800000u;
  const auto bits = std::bit_cast<uint32_t>(number);
  if ((bits & ~kSign) > kInfinity) return UINT32_MAX;
  if (bits == kSign) return kSign;
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

template <class Number>
void add_cumsum(Compiler& c, const Op& op) {
  const int64_t* shape = c.value(op.inputs[0]).shape;
  const int64_t outer = shape[0];
  const int64_t n = shape[1];
  const int64_t inner = shape[2];
  const int64_t strips = inner / kSumStrip + (inner % kSumStrip != 0);
  const Place x = c.place(op.inputs[0]);
  const Place y = c.place(op.outputs[0]);
  c.add(
      {c.area(op.inputs[0])}, {c.area(op.outputs[0])},
      [=](const Run&) { return outer * n * inner * 4; },
      [=](const Run&) { return outer * strips; },
      [=](Run& run, const Share& share) {
        run.each_row(share, [&](int64_t unit) {
          const int64_t column = unit % strips * kSumStrip;
          const int64_t width = std::min(kSumStrip, inner - column);
          const int64_t first = unit / strips * n * inner + column;
          const Number* from = run.at<const Number>(x) + first;
          Number* to = run.at<Number>(y) + first;
          double sums[kSumStrip] = {};
          for (int64_t i = 0; i < n; ++i) {
            for (int64_t j = 0; j < width; ++j) {
              sums[j] += from[i * inner + j];
              to[i * inner + j] = static_cast<Number>(sums[j]);
            }
          }
        });
      });
}

// Each element is a number of 64 bits: its rank in the order that is wanted,
// then its place, so that sorting numbers is stable sorting of elements.
void add_order(Compiler& c, const Op& op) {
  const int64_t* shape = c.value(op.inputs[0]).shape;
  const int64_t lines = shape[0] * shape[2];
  const int64_t n = shape[1];
  const int64_t inner = shape[2];
  const int64_t k = c.value(op.outputs[0]).shape[1];
  const uint32_t turned = op.params.order.falling != 0 ? UINT32_MAX : 0;
  const int64_t depth = std::bit_width(static_cast<uint64_t>(n));
  const Place x = c.place(op.inputs[0]);
  const Place y = c.place(op.outputs[0]);
  const ThreadScratch scratch = c.thread_scratch();
  c.add(
      {c.area(op.inputs[0])}, {c.area(op.outputs[0])},
      [=](const Run&) { return lines * n * depth * 4; },
      [=](const Run&) { return lines; },
      [=](Run& run, const Share& share) {
        auto* keys = scratch.of<uint64_t>(share.thread);
        run.each_row(share, [&](int64_t line) {
          const float* from =
              run.at<const float>(x) + line / inner * n * inner + line % inner;
          for (int64_t i = 0; i < n; ++i) {
            keys[i] = uint64_t{rank_of(from[i * inner]) ^ turned} << 32 |
                      static_cast<uint64_t>(i);
          }
          if (k < n) std::nth_element(keys, keys + k, keys + n);
          std::sort(keys, keys + k);
          int32_t* to =
              run.at<int32_t>(y) + line / inner * k * inner + line % inner;
          for (int64_t i = 0; i < k; ++i) {
            to[i * inner] = static_cast<int32_t>(keys[i] & UINT32_MAX);
          }
        });
      });
}

// Of elements of any type with the size of a Unit.
template <class Unit>
void add_take(Compiler& c, const Op& op) {
  const int64_t n = c.value(op.inputs[0]).shape[1];
  const int64_t k = c.value(op.inputs[1]).shape[1];
  const int64_t inner = c.value(op.inputs[0]).shape[2];
  const int64_t count = c.value(op.inputs[1]).shape[0] * k * inner;
  const int64_t chunks = count / kChunk + (count % kChunk != 0);
  const Place x = c.place(op.inputs[0]);
  const Place places = c.place(op.inputs[1]);
  const Place y = c.place(op.outputs[0]);
  c.add(
      {c.area(op.inputs[0]), c.area(op.inputs[1])}, {c.area(op.outputs[0])},
      [=](const Run&) { return count * 4; }, [=](const Run&) { return chunks; },
      [=](Run& run, const Share& share) {
        const Unit* from = run.at<const Unit>(x);
        const int32_t* wanted = run.at<const int32_t>(places);
        Unit* to = run.at<Unit>(y);
        run.each_row(share, [&](int64_t chunk) {
          const int64_t end = std::min((chunk + 1) * kChunk, count);
          for (int64_t i = chunk * kChunk; i < end; ++i) {
            const int32_t place = wanted[i];
            if (place < 0 || place >= n) {
              return run.fail(RC_E_INVALID_ARGUMENT,
                              "TAKE: element %lld asks for place %d of %lld",
                              static_cast<long long>(i), place,
                              static_cast<long long>(n));
            }
            to[i] = from[(i / (k * inner) * n + place) * inner + i % inner];
          }
        });
      });
}

bool is_wide(const Compiler& c, const Op& op) {
  return c.value(op.inputs[0]).dtype == RC_DTYPE_F64;
}

void compile_cumsum(Compiler& c, const Op& op) {
  is_wide(c, op) ? add_cumsum<double>(c, op) : add_cumsum<float>(c, op);
}

void compile_order(Compiler& c, const Op& op) {
  is_wide(c, op) ? numbers::compile_order(c, op) : add_order(c, op);
}

uint64_t order_scratch(const Compiler& c, const Op& op) {
  return product(c.value(op.inputs[0]).shape[1],
                 is_wide(c, op) ? numbers::kKeyBytes : sizeof(uint64_t));
}

void compile_take(Compiler& c, const Op& op) {
  switch (c.value(op.inputs[0]).dtype) {
    case RC_DTYPE_F64:
      return add_take<double>(c, op);
    case RC_DTYPE_F32:
      return add_take<float>(c, op);
    default:
      return add_take<uint16_t>(c, op);
  }
}

}  // namespace

std::span<const OpRow> ordering_ops() {
  static constexpr OpRow kOps[] = {
      {.code = RC_OP_CUMSUM,
       .form = OpRow::kOnTensors,
       .compile = compile_cumsum},
      {.code = RC_OP_ORDER,
       .form = OpRow::kOnTensors,
       .compile = compile_order,
       .scratch = order_scratch},
      {.code = RC_OP_TAKE, .form = OpRow::kOnTensors, .compile = compile_take}};
  return kOps;
}

}  // namespace rc::cpu
