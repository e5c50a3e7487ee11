// Norms, gates and other functions of the elements of rows.
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

}  // namespace

std::span<const OpRow> row_ops() {
  static constexpr OpRow kOps[] = {
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
      {.code = RC_OP_CLAMP, .form = OpRow::kOnRows, .compile = compile_clamp}};
  return kOps;
}

}  // namespace rc::cpu
