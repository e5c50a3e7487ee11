// Steps of tensor ops that look at one element at a time.
#include <cmath>
#include <memory>

#include "cpu/chain.h"
#include "cpu/compiler.h"
#include "cpu/kernels.h"
#include "cpu/numbers.h"

namespace rc::cpu {
namespace {

size_t compile_elementwise(Compiler& c, size_t first) {
  const Op& op = c.ops()[first];
  if (c.value(op.outputs[0]).dtype != RC_DTYPE_F32) {
    numbers::compile_elementwise(c, op);
    return 1;
  }
  auto chain = std::make_shared<const Chain>(c, first);
  const ThreadScratch* scratch = c.result_scratch(chain->scratch_bytes());
  c.add(
      chain->reads(), chain->writes(),
      [=](const Run&) { return chain->cost(); },
      [=](const Run&) { return chain->blocks(); },
      [=](Run& run, const Share& share) {
        auto* memory = scratch->of<float>(share.thread);
        run.each_row(share,
                     [&](int64_t block) { chain->work(run, block, memory); });
      });
  return chain->length();
}

uint64_t rope_scratch(const Compiler& c, const Op& op) {
  return product(c.columns(op.inputs[2]), 2 * sizeof(float));
}

void compile_rope_of_tensors(Compiler& c, const Op& op) {
  const rc_plugin_value& value = c.value(op.inputs[0]);
  const int64_t rows = value.shape[0];
  const int64_t heads = value.shape[1];
  const int64_t d = value.shape[2];
  const int64_t pairs = c.columns(op.inputs[2]);
  const int32_t style = op.params.rope.style;
  const float scale = op.params.rope.scale;
  const Place x = c.place(op.inputs[0]);
  const Place positions = c.place(op.inputs[1]);
  const Place frequencies = c.place(op.inputs[2]);
  const Place y = c.place(op.outputs[0]);
  const ThreadScratch scratch = c.thread_scratch();
  c.add(
      {c.area(op.inputs[0]), c.area(op.inputs[1]), c.area(op.inputs[2])},
      {c.area(op.outputs[0])},
      [=](const Run&) { return rows * (heads * d + pairs * 40); },
      [=](const Run&) { return rows; },
      [=](Run& run, const Share& share) {
        const float* from = run.at<const float>(x);
        const auto* position = run.at<const int32_t>(positions);
        const float* frequency = run.at<const float>(frequencies);
        float* to = run.at<float>(y);
        float* cosines = scratch.of<float>(share.thread);
        float* sines = cosines + pairs;
        run.each_row(share, [&](int64_t r) {
          for (int64_t i = 0; i < pairs; ++i) {
            const double angle =
                static_cast<double>(position[r]) * frequency[i];
            cosines[i] = static_cast<float>(std::cos(angle) * scale);
            sines[i] = static_cast<float>(std::sin(angle) * scale);
          }
          for (int64_t h = r * heads; h < (r + 1) * heads; ++h) {
            run.kernels.rope(from + h * d, cosines, sines, pairs, d, style,
                             to + h * d);
          }
        });
      });
}

}  // namespace

std::span<const OpRow> elementwise_ops() {
  static constexpr OpRow kOps[] = {{.code = RC_OP_UNARY,
                                    .form = OpRow::kOnTensors,
                                    .compile_several = compile_elementwise},
                                   {.code = RC_OP_BINARY,
                                    .form = OpRow::kOnTensors,
                                    .compile_several = compile_elementwise},
                                   {.code = RC_OP_WHERE,
                                    .form = OpRow::kOnTensors,
                                    .compile_several = compile_elementwise},
                                   {.code = RC_OP_ROPE,
                                    .form = OpRow::kOnTensors,
                                    .compile = compile_rope_of_tensors,
                                    .scratch = rope_scratch}};
  return kOps;
}

}  // namespace rc::cpu
