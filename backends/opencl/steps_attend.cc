// ATTEND and ROPE of tensors.
#include "opencl/arguments.h"
#include "opencl/compiler.h"

namespace rc::opencl {

Step Compiler::attend(const Op& op) {
  const rc_plugin_value& q = input(op, 0);
  const rc_plugin_value& k = input(op, 1);
  const int64_t heads = q.shape[2];
  const int64_t d = q.shape[3];
  const Place query = place(op.inputs[0]);
  const Place keys = place(op.inputs[1]);
  const Place values = place(op.inputs[2]);
  const Place to = place(op.outputs[0]);
  const uint32_t items = tuning_.attention_lanes(static_cast<uint64_t>(d));
  Step made = step(
      device_.library().kernel(
          "attend.cl", "attend",
          cat(definition("HEAD", d), definition("GROUP_ITEMS", items))),
      q.shape[0] * q.shape[1], heads * items, items,
      2.0 * static_cast<double>(heads * d) * static_cast<double>(k.shape[1]));
  set_arguments(made.kernel, 0, query.memory, query.offset, keys.memory,
                keys.offset, values.memory, values.offset, to.memory, to.offset,
                number(q.shape[1]), number(k.shape[1]), number(heads),
                number(k.shape[2]), op.params.attend.scale,
                op.params.attend.softcap, op.params.attend.causal);
  return made;
}

Step Compiler::rope(const Op& op) {
  const rc_plugin_value& x = input(op, 0);
  const int64_t pairs = input(op, 2).shape[0];
  const Place from = place(op.inputs[0]);
  const Place positions = place(op.inputs[1]);
  const Place frequencies = place(op.inputs[2]);
  const Place to = place(op.outputs[0]);
  Step made = step(device_.library().kernel("tensor_rope.cl", "tensor_rope"),
                   x.shape[0], (pairs + tuning_.vector - 1) / tuning_.vector, 1,
                   static_cast<double>(x.shape[1] * x.shape[2]));
  set_arguments(made.kernel, 0, from.memory, from.offset, positions.memory,
                positions.offset, frequencies.memory, frequencies.offset,
                to.memory, to.offset, number(x.shape[1]), number(x.shape[2]),
                number(pairs),
                cl_int{op.params.rope.style == RC_ROPE_HALVES ? 1 : 0},
                op.params.rope.scale);
  return made;
}

}  // namespace rc::opencl
