// Steps that work row by row: tables, norms, gates, sums, rotation, routing.
#include <algorithm>
#include <cmath>

#include "cpu/compiler.h"
#include "cpu/failure.h"
#include "cpu/kernels.h"

namespace rc::cpu {
namespace {

// y = f(a, b, n) over all elements, piece by piece.
template <class Function>
void add_elementwise(Compiler& c, const rc_plugin_op& op, int inputs,
                     Function function, int64_t weight) {
  const int64_t n = c.row_elements(op.outputs[0]);
  const int64_t dimension = c.value(op.outputs[0]).shape[0];
  const int64_t chunks = n / kChunk + (n % kChunk != 0);
  const Place a = c.place(op.inputs[0]);
  const Place b = c.place(op.inputs[inputs - 1]);
  const Place y = c.place(op.outputs[0]);
  c.add(
      {c.area(op.inputs[0]), c.area(op.inputs[inputs - 1])},
      {c.area(op.outputs[0])},
      [=](const Run& run) { return run.rows(dimension) * n * weight; },
      [=](const Run& run) { return run.rows(dimension) * chunks; },
      [=](Run& run, const Share& share) {
        const float* pa = run.at<const float>(a);
        const float* pb = run.at<const float>(b);
        float* py = run.at<float>(y);
        run.each_row(share, [&](int64_t unit) {
          const int64_t first = unit % chunks * kChunk;
          const int64_t at = unit / chunks * n + first;
          function(run.kernels, pa + at, pb + at, std::min(kChunk, n - first),
                   py + at);
        });
      });
}

std::vector<Area> left_areas(const Compiler& c,
                             const Compiler::Leaving& leaving, int32_t i) {
  std::vector<Area> areas;
  if (leaving.blocks) areas.push_back(c.activations_area());
  if (leaving.floats) areas.push_back(c.area(i));
  return areas;
}

void add_rms_norm(Compiler& c, const rc_plugin_op& op) {
  const int64_t n = c.columns(op.inputs[0]);
  const int64_t dimension = c.value(op.inputs[0]).shape[0];
  const int64_t per_row = c.row_elements(op.inputs[0]) / n;
  const float* weight = c.elements(op.inputs[1]);
  const float epsilon = op.params.norm.epsilon;
  const Place x = c.place(op.inputs[0]);
  const Place y = c.place(op.outputs[0]);
  const Compiler::Leaving leaving = c.leaving(op.outputs[0], n);
  const Compiler::ThreadScratch scratch = c.thread_scratch();
  c.add(
      {c.area(op.inputs[0])}, left_areas(c, leaving, op.outputs[0]),
      [=](const Run& run) { return run.rows(dimension) * per_row * n; },
      [=](const Run& run) { return run.rows(dimension) * per_row; },
      [=](Run& run, const Share& share) {
        const float* from = run.at<const float>(x);
        float* to = leaving.floats ? run.at<float>(y) : nullptr;
        run.each_row(share, [&](int64_t r) {
          float* row = to ? to + r * n : scratch.of<float>(share.thread);
          run.kernels.rms_norm(from + r * n, weight, n, epsilon, row);
          if (leaving.blocks) {
            run.kernels.quantize(row, n, leaving.blocks + r * (n / 32));
          }
        });
      });
  if (leaving.blocks) c.left_quantized(op.outputs[0]);
}

// With its product for the next weights: by pieces that stay in the first-level
// cache until they are quantized.
void add_quantized_glu(Compiler& c, const rc_plugin_op& op,
                       const Compiler::Leaving& leaving) {
  const int32_t activation = op.params.glu.activation;
  const int64_t n = c.row_elements(op.outputs[0]);
  const int64_t dimension = c.value(op.outputs[0]).shape[0];
  const int64_t chunks = n / kGateChunk + (n % kGateChunk != 0);
  const Place gate = c.place(op.inputs[0]);
  const Place up = c.place(op.inputs[1]);
  const Place y = c.place(op.outputs[0]);
  const Compiler::ThreadScratch scratch = c.thread_scratch();
  c.add(
      {c.area(op.inputs[0]), c.area(op.inputs[1])},
      left_areas(c, leaving, op.outputs[0]),
      [=](const Run& run) { return run.rows(dimension) * n * 3; },
      [=](const Run& run) { return run.rows(dimension) * chunks; },
      [=](Run& run, const Share& share) {
        const float* gates = run.at<const float>(gate);
        const float* ups = run.at<const float>(up);
        float* to = leaving.floats ? run.at<float>(y) : nullptr;
        run.each_row(share, [&](int64_t unit) {
          const int64_t first = unit % chunks * kGateChunk;
          const int64_t at = unit / chunks * n + first;
          const int64_t count = std::min(kGateChunk, n - first);
          float* piece = to ? to + at : scratch.of<float>(share.thread);
          run.kernels.glu(gates + at, ups + at, count, activation, piece);
          run.kernels.quantize(piece, count, leaving.blocks + at / 32);
        });
      });
  c.left_quantized(op.outputs[0]);
}

}  // namespace

uint64_t row_scratch(const Compiler& c, const rc_plugin_op& op) {
  if (op.code == RC_OP_GLU) return kGateChunk * sizeof(float);
  return product(static_cast<uint64_t>(c.columns(op.inputs[0])), sizeof(float));
}

void compile_row_op(Compiler& c, const rc_plugin_op& op) {
  switch (op.code) {
    case RC_OP_RMS_NORM:
      return add_rms_norm(c, op);
    case RC_OP_GLU: {
      const Compiler::Leaving leaving =
          c.leaving(op.outputs[0], c.row_elements(op.outputs[0]));
      if (leaving.blocks) return add_quantized_glu(c, op, leaving);
      const int32_t activation = op.params.glu.activation;
      return add_elementwise(
          c, op, 2,
          [=](const Kernels& k, const float* gate, const float* up, int64_t n,
              float* y) { k.glu(gate, up, n, activation, y); },
          2);
    }
    case RC_OP_ADD:
      return add_elementwise(
          c, op, 2,
          [](const Kernels& k, const float* a, const float* b, int64_t n,
             float* y) { k.add(a, b, n, y); },
          1);
    case RC_OP_SCALE: {
      const float factor = op.params.scale.factor;
      return add_elementwise(
          c, op, 1,
          [=](const Kernels& k, const float* x, const float*, int64_t n,
              float* y) { k.scale(x, n, factor, y); },
          1);
    }
    case RC_OP_SOFTCAP: {
      const float cap = op.params.softcap.cap;
      return add_elementwise(
          c, op, 1,
          [=](const Kernels& k, const float* x, const float*, int64_t n,
              float* y) { k.softcap(x, n, cap, y); },
          2);
    }
    default:
      fail(RC_E_INTERNAL, "op %d has no steps", op.code);
  }
}

uint64_t get_rows_scratch(const Compiler& c, const rc_plugin_op& op) {
  const int32_t table = op.inputs[0];
  if (c.value(table).storage != RC_STORAGE_WEIGHT) return 0;
  return c.matrix(table).scratch_bytes(1);
}

void compile_get_rows(Compiler& c, const rc_plugin_op& op) {
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
    const Compiler::ThreadScratch scratch = c.thread_scratch();
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
  c.add(
      {c.area(table), c.area(op.inputs[1])}, {c.area(op.outputs[0])},
      [=](const Run& run) { return run.rows(dimension) * d; },
      [=](const Run& run) { return run.rows(dimension); },
      [=](Run& run, const Share& share) {
        const int32_t* id = run.at<const int32_t>(ids);
        const float* from = run.at<const float>(source);
        float* to = run.at<float>(y);
        run.each_row(share, [&](int64_t r) {
          if (!in_range(run, id[r], run.rows(table_rows))) return;
          std::copy_n(from + id[r] * d, d, to + r * d);
        });
      });
}

void compile_rope(Compiler& c, const rc_plugin_op& op) {
  const int32_t style = op.params.rope.style;
  const float* angles =
      c.angles(op.inputs[1], op.inputs[2], op.params.rope.scale);
  const rc_plugin_value& value = c.value(op.inputs[0]);
  const int64_t dimension = value.shape[0];
  const int64_t heads = value.shape[1];
  const int64_t d = value.shape[2];
  const int64_t pairs = c.columns(op.inputs[2]);
  const Place x = c.place(op.inputs[0]);
  const Place y = c.place(op.outputs[0]);
  c.add(
      {c.area(op.inputs[0]), {Area::kAngles, 0, 0, UINT64_MAX}},
      {c.area(op.outputs[0])},
      [=](const Run& run) { return run.rows(dimension) * heads * d; },
      [=](const Run& run) { return run.rows(dimension); },
      [=](Run& run, const Share& share) {
        const float* from = run.at<const float>(x);
        float* to = run.at<float>(y);
        run.each_row(share, [&](int64_t r) {
          const float* cosines = angles + r * 2 * pairs;
          for (int64_t h = r * heads; h < (r + 1) * heads; ++h) {
            run.kernels.rope(from + h * d, cosines, cosines + pairs, pairs, d,
                             style, to + h * d);
          }
        });
      });
}

void compile_route(Compiler& c, const rc_plugin_op& op) {
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

void compile_expert_sum(Compiler& c, const rc_plugin_op& op) {
  const rc_plugin_value& value = c.value(op.inputs[0]);
  const int64_t dimension = value.shape[0];
  const int64_t k = value.shape[1];
  const int64_t n = value.shape[2];
  const Place x = c.place(op.inputs[0]);
  const Place weights = c.place(op.inputs[1]);
  const Place y = c.place(op.outputs[0]);
  c.add(
      {c.area(op.inputs[0]), c.area(op.inputs[1])}, {c.area(op.outputs[0])},
      [=](const Run& run) { return run.rows(dimension) * k * n; },
      [=](const Run& run) { return run.rows(dimension); },
      [=](Run& run, const Share& share) {
        const float* from = run.at<const float>(x);
        const float* weight = run.at<const float>(weights);
        float* to = run.at<float>(y);
        run.each_row(share, [&](int64_t r) {
          run.kernels.weighted_sum(from + r * k * n, weight + r * k, k, n,
                                   to + r * n);
        });
      });
}

}  // namespace rc::cpu
