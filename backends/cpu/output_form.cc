// Which results are left quantized by the step that computes them: a norm or a
// gate that only goes into products needs no step for quantizing, and its
// floats no memory.
#include <algorithm>

#include "cpu/compiler.h"
#include "cpu/tiles.h"

namespace rc::cpu {

bool Compiler::same(int32_t a, int32_t b) const {
  if (value(a).storage != value(b).storage ||
      value(a).shape[0] != value(b).shape[0]) {
    return false;
  }
  const Area x = area(a);
  const Area y = area(b);
  if (x.index != y.index || x.begin != y.begin || x.end != y.end) return false;
  // Tensors in one buffer may be parts of it.
  return x.kind != Area::kCache ||
         (value(a).offset == value(b).offset && max_bytes(a) == max_bytes(b));
}

ActivationForm Compiler::form_of(const Op& op) const {
  if (op.code == RC_OP_MATMUL) {
    return activation_form(tile_dtype(value(op.inputs[1]).dtype));
  }
  if (op.code != RC_OP_LINEAR && op.code != RC_OP_EXPERT_LINEAR) {
    return ActivationForm::kFloats;
  }
  const rc_plugin_value& weight = value(op.inputs[1]);
  return weight.storage == RC_STORAGE_WEIGHT
             ? activation_form(program_.weights[weight.index]->layout.dtype)
             : ActivationForm::kFloats;
}

Compiler::OutputForm Compiler::output_form(int32_t i, int64_t width) const {
  OutputForm result = {nullptr, ActivationForm::kFloats,
                       value(i).storage != RC_STORAGE_SCRATCH};
  const Area its = area(i);
  bool kept = true;  // the blocks are still there
  for (size_t k = static_cast<size_t>(op_) + 1; k < program_.ops.size(); ++k) {
    const Op& op = program_.ops[k];
    const ActivationForm form = form_of(op);
    const bool product = form != ActivationForm::kFloats;
    const bool takes_blocks = product && kept && same(op.inputs[0], i) &&
                              width % block_elements(form) == 0 &&
                              (result.blocks == nullptr || result.form == form);
    if (takes_blocks) {
      result.blocks = activations_;
      result.form = form;
    }
    if (product && !takes_blocks) kept = false;
    for (size_t input = takes_blocks ? 1 : 0; input < std::size(op.inputs);
         ++input) {
      const int32_t read = op.inputs[input];
      if (read < 0 || value(read).storage == RC_STORAGE_WEIGHT) continue;
      if (area(read).overlaps(its)) result.floats = true;
    }
    bool gone = false;
    for (const int32_t written : op.outputs) {
      if (written < 0) continue;
      const Area area_written = area(written);
      if (!area_written.overlaps(its)) continue;
      kept = false;
      gone |= area_written.begin <= its.begin && area_written.end >= its.end;
    }
    if (gone) break;
  }
  if (result.blocks == nullptr) result.floats = true;
  return result;
}

}  // namespace rc::cpu
