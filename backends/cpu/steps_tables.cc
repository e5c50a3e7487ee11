// GET_ROWS, JOIN and ROPE: rows from tables, side by side, and rotated.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "cpu/chunks.h"
#include "cpu/kernels.h"

namespace rc::cpu {
namespace {

uint64_t get_rows_scratch(const Compiler& c, const Op& op) {
  const int32_t table = op.inputs[0];
  if (c.value(table).storage != RC_STORAGE_WEIGHT) return 0;
  return c.matrix(table).scratch_bytes(1);
}

void compile_get_rows(Compiler& c, const Op& op) {
  const int32_t table = op.inputs[0];
  const int64_t d = c.columns(table);
  const int64_t dimension = c.value(op.inputs[1]).shape[0];
  const int64_t table_rows = c.value(table).shape[0];
  const Place ids = c.place(op.inputs[1]);
  const Place y = c.place(op.outputs[0]);
  const auto in_range = [](Run& run, int64_t id, int64_t rows) {
    if (id >= 0 && id < rows) return true;
    run.fail(RC_E_INVALID_ARGUMENT,
             "GET_ROWS: row %lld is asked of a table of %lld rows",
             static_cast<long long>(id), static_cast<long long>(rows));
    return false;
  };
  if (c.value(table).storage == RC_STORAGE_WEIGHT) {
    const rc_plugin_weight* weight = &c.matrix(table);
    const TableFunction function = c.kernels().table(weight->layout.dtype);
    if (function == nullptr) {
      fail(RC_E_INVALID_ARGUMENT, "weight ", c.value(table).index,
           " is used for its rows but was created for products alone");
    }
    const ThreadScratch scratch = c.thread_scratch();
    c.add(
        {c.area(op.inputs[1])}, {c.area(op.outputs[0])},
        [=](const Run& run) { return run.rows(dimension) * d * 4; },
        [=](const Run& run) { return run.rows(dimension); },
        [=](Run& run, const Share& share) {
          const int32_t* id = run.at<const int32_t>(ids);
          float* to = run.at<float>(y);
          run.each_row(share, [&](int64_t r) {
            if (!in_range(run, id[r], table_rows)) return;
            int lane = 0;
            const uint8_t* tile = weight->tile_of_row(
                run.kernels, id[r], scratch.of<uint8_t>(share.thread), &lane);
            function(tile, lane, d, to + r * d);
          });
        });
    return;
  }
  const Place source = c.place(table);
  const rc_dtype dtype = c.value(table).dtype;
  const Decoder decode = find_decoder(dtype);
  const uint64_t bytes = *row_bytes(dtype, d);
  const bool wide = c.value(op.outputs[0]).dtype == RC_DTYPE_F64;
  const int64_t cost = dtype == RC_DTYPE_F32 ? d : d * 4;
  c.add(
      {c.area(table), c.area(op.inputs[1])}, {c.area(op.outputs[0])},
      [=](const Run& run) { return run.rows(dimension) * cost; },
      [=](const Run& run) { return run.rows(dimension); },
      [=](Run& run, const Share& share) {
        const int32_t* id = run.at<const int32_t>(ids);
        const auto* from = run.at<const uint8_t>(source);
        float* to = run.at<float>(y);
        run.each_row(share, [&](int64_t r) {
          if (!in_range(run, id[r], run.rows(table_rows))) return;
          if (wide) {
            std::memcpy(run.at<double>(y) + r * d,
                        from + static_cast<uint64_t>(id[r]) * bytes, bytes);
            return;
          }
          decode(from + static_cast<uint64_t>(id[r]) * bytes, to + r * d, d);
        });
      });
}

void compile_join(Compiler& c, const Op& op) {
  const rc_plugin_value& first = c.value(op.inputs[0]);
  const int64_t m = first.shape[2];
  const int64_t n = c.value(op.inputs[1]).shape[2];
  const int64_t heads = first.shape[1];
  const int64_t dimension = first.shape[0];
  const Place a = c.place(op.inputs[0]);
  const Place b = c.place(op.inputs[1]);
  const Place y = c.place(op.outputs[0]);
  c.add(
      {c.area(op.inputs[0]), c.area(op.inputs[1])}, {c.area(op.outputs[0])},
      [=](const Run& run) { return run.rows(dimension) * heads * (m + n); },
      [=](const Run& run) { return run.rows(dimension); },
      [=](Run& run, const Share& share) {
        const float* from_a = run.at<const float>(a);
        const float* from_b = run.at<const float>(b);
        run.each_row(share, [&](int64_t r) {
          float* to = run.at<float>(y) + r * heads * (m + n);
          for (int64_t i = r * heads; i < (r + 1) * heads; ++i) {
            to = std::copy_n(from_a + i * m, m, to);
            to = std::copy_n(from_b + i * n, n, to);
          }
        });
      });
}

void compile_rope(Compiler& c, const Op& op) {
  const int32_t style = op.params.rope.style;
  const float* angles =
      c.angles(op.inputs[1], op.inputs[2], op.params.rope.scale);
  const rc_plugin_value& value = c.value(op.inputs[0]);
  const int64_t heads = value.shape[1];
  const int64_t d = value.shape[2];
  const int64_t pairs = c.columns(op.inputs[2]);
  const Place x = c.place(op.inputs[0]);
  add_chunks(c, {c.area(op.inputs[0]), {Area::kAngles, 0, 0, UINT64_MAX}},
             op.outputs[0], {nullptr, ActivationForm::kFloats, true},
             {value.shape[0], heads * d, heads * d, 1},
             [=](Run& run, int, int64_t at, int64_t, float* y, uint8_t*) {
               const float* from = run.at<const float>(x) + at;
               const float* cosines = angles + at / (heads * d) * 2 * pairs;
               for (int64_t i = 0; i < heads * d; i += d) {
                 run.kernels.rope(from + i, cosines, cosines + pairs, pairs, d,
                                  style, y + i);
               }
             });
}

}  // namespace

std::span<const OpRow> table_ops() {
  static constexpr OpRow kOps[] = {
      {.code = RC_OP_GET_ROWS,
       .form = OpRow::kOnRows,
       .compile = compile_get_rows,
       .scratch = get_rows_scratch},
      {.code = RC_OP_GET_ROWS,
       .form = OpRow::kOnTensors,
       .compile = compile_get_rows,
       .scratch = get_rows_scratch},
      {.code = RC_OP_JOIN, .form = OpRow::kOnRows, .compile = compile_join},
      {.code = RC_OP_ROPE, .form = OpRow::kOnRows, .compile = compile_rope}};
  return kOps;
}

}  // namespace rc::cpu
