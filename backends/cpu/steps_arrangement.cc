// Steps that arrange the elements of tensors in another way or type.
#include <algorithm>
#include <cstring>

#include "cpu/compiler.h"
#include "cpu/copied_view.h"
#include "tensor/dtype.h"
#include "tensor/wide.h"

namespace rc::cpu {
namespace {

// Of a row that a thread copies at a time.
constexpr int64_t kBytes = 4 * kChunk;

// Units of one size, `step` units apart, to dense ones.
template <class Unit>
void pick(const uint8_t* from, int64_t step, int64_t count, uint8_t* to) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * sizeof(Unit), from + i * step * sizeof(Unit),
                sizeof(Unit));
  }
}

void copy_units(const uint8_t* from, int64_t step, int64_t count, int64_t bytes,
                uint8_t* to) {
  if (step == 1) {
    std::memcpy(to, from, count * bytes);
  } else if (bytes == 4) {
    pick<uint32_t>(from, step, count, to);
  } else if (bytes == 2) {
    pick<uint16_t>(from, step, count, to);
  } else if (bytes == 8) {
    pick<uint64_t>(from, step, count, to);
  } else {  // bytes and blocks
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(to + i * bytes, from + i * step * bytes, bytes);
    }
  }
}

// Matrices of 4-byte units, a square at a time, so that lines of caches are
// used up on both sides.
void add_transposed_copy(Compiler& c, const Op& op, const Strided<1>& shape) {
  constexpr int64_t kSide = 64;
  const int64_t rows = shape.sizes[shape.rank - 2];
  const int64_t columns = shape.columns();
  const int64_t down = (rows + kSide - 1) / kSide;
  const int64_t across = (columns + kSide - 1) / kSide;
  const int64_t matrices = shape.lines() / rows;
  const Place x = c.place(op.inputs[0]);
  const Place y = c.place(op.outputs[0]);
  c.add(
      {c.area(op.inputs[0])}, {c.area(op.outputs[0])},
      [=](const Run&) { return matrices * rows * columns * 2; },
      [=](const Run&) { return matrices * down * across; },
      [=](Run& run, const Share& share) {
        run.each_row(share, [&](int64_t unit) {
          const int64_t matrix = unit / across / down;
          const int64_t row = unit / across % down * kSide;
          const int64_t column = unit % across * kSide;
          // In memory rows and columns are the other way round.
          run.kernels.transpose(
              run.at<const float>(x) + shape.offset(0, matrix * rows) + row +
                  column * shape.step(0),
              shape.step(0), std::min(kSide, columns - column),
              std::min(kSide, rows - row),
              run.at<float>(y) + (matrix * rows + row) * columns + column,
              columns);
        });
      });
}

void add_copy(Compiler& c, const Op& op) {
  const rc_plugin_value& value = c.value(op.outputs[0]);
  const DTypeInfo& type = *dtype_info(value.dtype);
  const int64_t bytes = type.block_bytes;
  const Strided<1> shape = copied_view(value, op);
  if (bytes == sizeof(float) && is_transposed(shape)) {
    return add_transposed_copy(c, op, shape);
  }
  const int64_t n = shape.columns();
  const int64_t chunks = n / kChunk + (n % kChunk != 0);
  const Place x = c.place(op.inputs[0]);
  const Place y = c.place(op.outputs[0]);
  c.add(
      {c.area(op.inputs[0])}, {c.area(op.outputs[0])},
      [=](const Run&) { return shape.lines() * n; },
      [=](const Run&) { return shape.lines() * chunks; },
      [=](Run& run, const Share& share) {
        const auto* from = run.at<const uint8_t>(x);
        auto* to = run.at<uint8_t>(y);
        run.each_row(share, [&](int64_t unit) {
          const int64_t line = unit / chunks;
          const int64_t first = unit % chunks * kChunk;
          const int64_t step = shape.step(0);
          copy_units(from + (shape.offset(0, line) + first * step) * bytes,
                     step, std::min(kChunk, n - first), bytes,
                     to + (line * n + first) * bytes);
        });
      });
}

void compile_convert(Compiler& c, const Op& op) {
  const rc_dtype from_type = c.value(op.inputs[0]).dtype;
  const rc_dtype to_type = c.value(op.outputs[0]).dtype;
  const int64_t n = c.columns(op.inputs[0]);
  const int64_t vectors =
      c.row_elements(op.inputs[0]) * c.value(op.inputs[0]).shape[0] / n;
  const int64_t chunks = n / kChunk + (n % kChunk != 0);
  const Place x = c.place(op.inputs[0]);
  const Place y = c.place(op.outputs[0]);
  c.add(
      {c.area(op.inputs[0])}, {c.area(op.outputs[0])},
      [=](const Run&) { return vectors * n * 4; },
      [=](const Run&) { return vectors * chunks; },
      [=](Run& run, const Share& share) {
        const auto* from = run.at<const uint8_t>(x);
        auto* to = run.at<uint8_t>(y);
        run.each_row(share, [&](int64_t unit) {
          const int64_t first = unit % chunks * kChunk;
          const int64_t at = unit / chunks * n + first;
          const int64_t count = std::min(kChunk, n - first);
          // `at` is a multiple of the block: rows and chunks are.
          const uint8_t* source = from + *row_bytes(from_type, at);
          uint8_t* target = to + *row_bytes(to_type, at);
          if (from_type == RC_DTYPE_F64) {
            encode_row(to_type, reinterpret_cast<const double*>(source), target,
                       count);
          } else if (to_type == RC_DTYPE_F64) {
            decode_row(from_type, source, reinterpret_cast<double*>(target),
                       count);
          } else if (to_type == RC_DTYPE_F32) {
            find_decoder(from_type)(source, reinterpret_cast<float*>(target),
                                    count);
          } else {
            encode_row(to_type, reinterpret_cast<const float*>(source), target,
                       count);
          }
        });
      });
}

// Rows of several values one behind the other, a value at a time.
void compile_concat(Compiler& c, const Op& op) {
  const rc_plugin_value& value = c.value(op.outputs[0]);
  const int64_t rows = value.shape[0];
  const auto stride =
      static_cast<int64_t>(*row_bytes(value.dtype, value.shape[1]));
  const Place y = c.place(op.outputs[0]);
  int64_t behind = 0;
  for (const int32_t input : op.inputs) {
    if (input < 0) continue;
    const auto bytes =
        static_cast<int64_t>(*row_bytes(value.dtype, c.columns(input)));
    const int64_t chunks = bytes / kBytes + (bytes % kBytes != 0);
    const Place x = c.place(input);
    c.add(
        {c.area(input)}, {c.area(op.outputs[0])},
        [=](const Run&) { return rows * (bytes / 4 + 1); },
        [=](const Run&) { return rows * chunks; },
        [=](Run& run, const Share& share) {
          const auto* from = run.at<const uint8_t>(x);
          auto* to = run.at<uint8_t>(y) + behind;
          run.each_row(share, [&](int64_t unit) {
            const int64_t row = unit / chunks;
            const int64_t first = unit % chunks * kBytes;
            std::memcpy(to + row * stride + first, from + row * bytes + first,
                        static_cast<size_t>(std::min(kBytes, bytes - first)));
          });
        });
    behind += bytes;
  }
}

// Of elements of any type with the size of a Unit.
template <class Unit>
void add_pad(Compiler& c, const Op& op) {
  const rc_plugin_value& value = c.value(op.outputs[0]);
  const int64_t rows = value.shape[0];
  const int64_t whole = value.shape[1] * value.shape[2];
  const int64_t own = c.row_elements(op.inputs[0]);
  const int64_t before = op.params.pad.before * value.shape[2];
  Unit number = {};
  encode_row(value.dtype, &op.params.pad.value, &number, 1);
  const int64_t chunks = whole / kChunk + (whole % kChunk != 0);
  const Place x = c.place(op.inputs[0]);
  const Place y = c.place(op.outputs[0]);
  c.add(
      {c.area(op.inputs[0])}, {c.area(op.outputs[0])},
      [=](const Run&) { return rows * whole; },
      [=](const Run&) { return rows * chunks; },
      [=](Run& run, const Share& share) {
        const Unit* from = run.at<const Unit>(x);
        Unit* to = run.at<Unit>(y);
        run.each_row(share, [&](int64_t unit) {
          const int64_t row = unit / chunks;
          const int64_t begin = unit % chunks * kChunk;
          const int64_t end = std::min(begin + kChunk, whole);
          // Of x, counted in the row of the output.
          const int64_t first = std::clamp(before, begin, end);
          const int64_t last = std::clamp(before + own, begin, end);
          Unit* line = to + row * whole;
          std::fill(line + begin, line + first, number);
          if (first < last) {
            std::copy_n(from + row * own + first - before, last - first,
                        line + first);
          }
          std::fill(line + last, line + end, number);
        });
      });
}

size_t compile_copy(Compiler& c, size_t first) {
  if (compile_across(c, first)) return 2;
  add_copy(c, c.ops()[first]);
  return 1;
}

void compile_pad(Compiler& c, const Op& op) {
  switch (c.value(op.outputs[0]).dtype) {
    case RC_DTYPE_F64:
      return add_pad<double>(c, op);
    case RC_DTYPE_F32:
      return add_pad<float>(c, op);
    default:
      return add_pad<uint16_t>(c, op);
  }
}

}  // namespace

std::span<const OpRow> arrangement_ops() {
  static constexpr OpRow kOps[] = {
      {.code = RC_OP_COPY,
       .form = OpRow::kOnTensors,
       .compile_several = compile_copy},
      {.code = RC_OP_CONVERT,
       .form = OpRow::kOnTensors,
       .compile = compile_convert},
      {.code = RC_OP_CONCAT,
       .form = OpRow::kOnTensors,
       .compile = compile_concat},
      {.code = RC_OP_PAD, .form = OpRow::kOnTensors, .compile = compile_pad}};
  return kOps;
}

}  // namespace rc::cpu
