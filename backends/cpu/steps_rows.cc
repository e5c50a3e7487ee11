// Steps that work row by row: tables, norms, gates, sums, rotation, routing.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "cpu/chunks.h"
#include "cpu/kernels.h"

namespace rc::cpu {
namespace {

// y = f(a, b, n) over all elements, chunk by chunk.
template <class Function>
void add_elementwise(Compiler& c, const Op& op, int inputs, Function function,
                     int64_t cost) {
  const Place a = c.place(op.inputs[0]);
  const Place b = c.place(op.inputs[inputs - 1]);
  add_chunks(c, {c.area(op.inputs[0]), c.area(op.inputs[inputs - 1])},
             op.outputs[0], {nullptr, ActivationForm::kFloats, true},
             {c.value(op.outputs[0]).shape[0], c.row_elements(op.outputs[0]),
              kChunk, cost},
             [=](Run& run, int, int64_t at, int64_t count, float* y, uint8_t*) {
               function(run.kernels, run.at<const float>(a) + at,
                        run.at<const float>(b) + at, count, y);
             });
}

// function(kernels, x, number, n, y) makes a vector of n elements, which is the
// so-many-th of all, at that cost each.
template <class Function>
void add_norm(Compiler& c, const Op& op, int64_t cost, Function function) {
  const int64_t n = c.columns(op.inputs[0]);
  const Place x = c.place(op.inputs[0]);
  const Compiler::OutputForm form = c.output_form(op.outputs[0], n);
  const ThreadScratch scratch = c.thread_scratch();
  add_chunks(
      c, {c.area(op.inputs[0])}, op.outputs[0], form,
      {c.value(op.inputs[0]).shape[0], c.row_elements(op.inputs[0]), n, cost},
      [=](Run& run, int thread, int64_t at, int64_t, float* floats,
          uint8_t* blocks) {
        float* y = floats ? floats : scratch.of<float>(thread);
        function(run.kernels, run.at<const float>(x) + at, at / n, n, y);
        if (blocks) quantize(run.kernels, form.form, y, n, blocks);
      });
  if (form.blocks) c.set_quantized(op.outputs[0], form.form);
}

void compile_rms_norm(Compiler& c, const Op& op) {
  const float* weight = c.elements(op.inputs[1]);
  const float epsilon = op.params.norm.epsilon;
  add_norm(c, op, 1,
           [=](const Kernels& kernels, const float* x, int64_t, int64_t n,
               float* y) { kernels.rms_norm(x, weight, n, epsilon, y); });
}

void compile_group_norm(Compiler& c, const Op& op) {
  const float* weight = c.elements(op.inputs[1]);
  const float epsilon = op.params.norm.epsilon;
  const int64_t groups = c.value(op.inputs[0]).shape[1];
  add_norm(c, op, 1,
           [=](const Kernels& kernels, const float* x, int64_t number,
               int64_t n, float* y) {
             kernels.rms_norm(x, weight + number % groups * n, n, epsilon, y);
           });
}

void compile_layer_norm_of_rows(Compiler& c, const Op& op) {
  const float* weight = op.inputs[1] < 0 ? nullptr : c.elements(op.inputs[1]);
  const float* bias = op.inputs[2] < 0 ? nullptr : c.elements(op.inputs[2]);
  const auto params = op.params.layer_norm;
  add_norm(c, op, 2,
           [=](const Kernels& kernels, const float* x, int64_t, int64_t n,
               float* y) {
             kernels.layer_norm(x, weight, bias, n, params.epsilon,
                                params.center, y);
           });
}

Gate gate_of(const Op& op) {
  const auto& params = op.params.glu;
  return {params.function, params.limit, params.offset};
}

// With its product for the next weights: by pieces that stay in the first-level
// cache until they are quantized.
void add_quantized_glu(Compiler& c, const Op& op,
                       const Compiler::OutputForm& form) {
  const Gate how = gate_of(op);
  const Place gate = c.place(op.inputs[0]);
  const Place up = c.place(op.inputs[1]);
  const ThreadScratch scratch = c.thread_scratch();
  add_chunks(c, {c.area(op.inputs[0]), c.area(op.inputs[1])}, op.outputs[0],
             form,
             {c.value(op.outputs[0]).shape[0], c.row_elements(op.outputs[0]),
              kGateChunk, 3},
             [=](Run& run, int thread, int64_t at, int64_t count, float* floats,
                 uint8_t* blocks) {
               float* y = floats ? floats : scratch.of<float>(thread);
               run.kernels.glu(run.at<const float>(gate) + at,
                               run.at<const float>(up) + at, count, how, y);
               quantize(run.kernels, form.form, y, count, blocks);
             });
  c.set_quantized(op.outputs[0], form.form);
}

uint64_t row_scratch(const Compiler& c, const Op& op) {
  return product(static_cast<uint64_t>(c.columns(op.inputs[0])), sizeof(float));
}

void compile_glu(Compiler& c, const Op& op) {
  const Compiler::OutputForm form =
      c.output_form(op.outputs[0], c.row_elements(op.outputs[0]));
  if (form.blocks) return add_quantized_glu(c, op, form);
  const Gate how = gate_of(op);
  add_elementwise(
      c, op, 2,
      [=](const Kernels& k, const float* gate, const float* up, int64_t n,
          float* y) { k.glu(gate, up, n, how, y); },
      2);
}

uint64_t glu_scratch(const Compiler&, const Op&) {
  return kGateChunk * sizeof(float);
}

void compile_unary(Compiler& c, const Op& op) {
  const int32_t function = op.params.unary.function;
  add_elementwise(
      c, op, 1,
      [=](const Kernels& k, const float* x, const float*, int64_t n, float* y) {
        k.unary(x, n, function, y);
      },
      2);
}

void compile_add(Compiler& c, const Op& op) {
  add_elementwise(
      c, op, 2,
      [](const Kernels& k, const float* a, const float* b, int64_t n,
         float* y) { k.add(a, b, n, y); },
      1);
}

void compile_multiply(Compiler& c, const Op& op) {
  add_elementwise(
      c, op, 2,
      [](const Kernels& k, const float* a, const float* b, int64_t n,
         float* y) { k.multiply(a, b, n, y); },
      1);
}

void compile_scale(Compiler& c, const Op& op) {
  const float factor = op.params.scale.factor;
  add_elementwise(
      c, op, 1,
      [=](const Kernels& k, const float* x, const float*, int64_t n, float* y) {
        k.scale(x, n, factor, y);
      },
      1);
}

void compile_softcap(Compiler& c, const Op& op) {
  const float cap = op.params.softcap.cap;
  add_elementwise(
      c, op, 1,
      [=](const Kernels& k, const float* x, const float*, int64_t n, float* y) {
        k.softcap(x, n, cap, y);
      },
      2);
}

void compile_clamp(Compiler& c, const Op& op) {
  const float limit = op.params.clamp.limit;
  add_elementwise(
      c, op, 1,
      [=](const Kernels&, const float* from, const float*, int64_t n,
          float* y) {
        // A NaN stays.
        for (int64_t i = 0; i < n; ++i) {
          const float x = from[i];
          y[i] = x > limit ? limit : x < -limit ? -limit : x;
        }
      },
      1);
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

void compile_route(Compiler& c, const Op& op) {
  const bool normalize = op.params.route.normalize != 0;
  const int64_t dimension = c.value(op.inputs[0]).shape[0];
  const int64_t experts = c.columns(op.inputs[0]);
  const int64_t k = c.columns(op.outputs[0]);
  const Place x = c.place(op.inputs[0]);
  const Place ids = c.place(op.outputs[0]);
  const Place weights = c.place(op.outputs[1]);
  c.add(
      {c.area(op.inputs[0])}, {c.area(op.outputs[0]), c.area(op.outputs[1])},
      [=](const Run& run) { return run.rows(dimension) * experts * (20 + k); },
      [=](const Run& run) { return run.rows(dimension); },
      [=](Run& run, const Share& share) {
        const float* from = run.at<const float>(x);
        int32_t* id = run.at<int32_t>(ids);
        float* weight = run.at<float>(weights);
        run.each_row(share, [&](int64_t r) {
          const float* row = from + r * experts;
          const double most = *std::max_element(row, row + experts);
          double total = 0;
          for (int64_t e = 0; e < experts; ++e) {
            total += std::exp(row[e] - most);
          }
          double chosen = 0;
          for (int64_t i = 0; i < k; ++i) {
            const int32_t* before = id + r * k;
            int64_t best = -1;
            for (int64_t e = 0; e < experts; ++e) {
              if (std::find(before, before + i, e) != before + i) continue;
              if (best < 0 || row[e] > row[best]) best = e;
            }
            const double p = std::exp(row[best] - most) / total;
            chosen += p;
            id[r * k + i] = static_cast<int32_t>(best);
            weight[r * k + i] = static_cast<float>(p);
          }
          for (int64_t i = 0; normalize && i < k; ++i) {
            weight[r * k + i] = static_cast<float>(weight[r * k + i] / chosen);
          }
        });
      });
}

void compile_expert_sum(Compiler& c, const Op& op) {
  const rc_plugin_value& value = c.value(op.inputs[0]);
  const int64_t k = value.shape[1];
  const int64_t n = value.shape[2];
  const Place x = c.place(op.inputs[0]);
  const Place weights = c.place(op.inputs[1]);
  add_chunks(c, {c.area(op.inputs[0]), c.area(op.inputs[1])}, op.outputs[0],
             {nullptr, ActivationForm::kFloats, true},
             {value.shape[0], n, n, k},
             [=](Run& run, int, int64_t at, int64_t, float* y, uint8_t*) {
               run.kernels.weighted_sum(
                   run.at<const float>(x) + at * k,
                   run.at<const float>(weights) + at / n * k, k, n, y);
             });
}

}  // namespace

std::span<const OpRow> row_ops() {
  static constexpr OpRow kOps[] = {
      {.code = RC_OP_GET_ROWS,
       .form = OpRow::kOnRows,
       .compile = compile_get_rows,
       .scratch = get_rows_scratch},
      {.code = RC_OP_GET_ROWS,
       .form = OpRow::kOnTensors,
       .compile = compile_get_rows,
       .scratch = get_rows_scratch},
      {.code = RC_OP_RMS_NORM,
       .form = OpRow::kOnRows,
       .compile = compile_rms_norm,
       .scratch = row_scratch},
      {.code = RC_OP_GROUP_NORM,
       .form = OpRow::kOnRows,
       .compile = compile_group_norm,
       .scratch = row_scratch},
      {.code = RC_OP_LAYER_NORM,
       .form = OpRow::kOnRows,
       .compile = compile_layer_norm_of_rows,
       .scratch = row_scratch},
      {.code = RC_OP_GLU,
       .form = OpRow::kOnRows,
       .compile = compile_glu,
       .scratch = glu_scratch},
      {.code = RC_OP_UNARY, .form = OpRow::kOnRows, .compile = compile_unary},
      {.code = RC_OP_ADD, .form = OpRow::kOnRows, .compile = compile_add},
      {.code = RC_OP_MULTIPLY,
       .form = OpRow::kOnRows,
       .compile = compile_multiply},
      {.code = RC_OP_SCALE, .form = OpRow::kOnRows, .compile = compile_scale},
      {.code = RC_OP_SOFTCAP,
       .form = OpRow::kOnRows,
       .compile = compile_softcap},
      {.code = RC_OP_CLAMP, .form = OpRow::kOnRows, .compile = compile_clamp},
      {.code = RC_OP_JOIN, .form = OpRow::kOnRows, .compile = compile_join},
      {.code = RC_OP_ROPE, .form = OpRow::kOnRows, .compile = compile_rope},
      {.code = RC_OP_ROUTE, .form = OpRow::kOnRows, .compile = compile_route},
      {.code = RC_OP_EXPERT_SUM,
       .form = OpRow::kOnRows,
       .compile = compile_expert_sum}};
  return kOps;
}

}  // namespace rc::cpu
