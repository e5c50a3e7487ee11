// ATTEND.
#include "opencl/arguments.h"
#include "opencl/compiler.h"

namespace rc::opencl {

int Compiler::head_items(int64_t d) const {
  int items = tuning_.attention;
  while (items > 1 &&
         static_cast<uint64_t>(items * (d + 2)) * sizeof(cl_float) >
             tuning_.local_bytes) {
    items /= 2;
  }
  return items;
}

Step Compiler::attend(const Op& op) {
  const rc_plugin_value& q = input(op, 0);
  const rc_plugin_value& k = input(op, 1);
  const int64_t heads = q.shape[2];
  const int64_t d = q.shape[3];
  const Place query = place(op.inputs[0]);
  const Place keys = place(op.inputs[1]);
  const Place values = place(op.inputs[2]);
  const Place to = place(op.outputs[0]);
  const int items = head_items(d);
  Step step;
  step.dimension = q.shape[0] * q.shape[1];
  step.cost = static_cast<uint64_t>(2 * heads * d * k.shape[1]);
  step.narrow =
      range(device_.library().kernel("attend.cl", "attend",
                                     cat(" -DCACHE_F32", definition("HEAD", d),
                                         definition("GROUP_ITEMS", items))),
            heads * items, items);
  set_arguments(step.narrow.kernel, 0, query.memory, query.offset, keys.memory,
                keys.offset, values.memory, values.offset, to.memory, to.offset,
                number(q.shape[1]), number(k.shape[1]), number(heads),
                number(k.shape[2]), op.params.attend.scale,
                op.params.attend.softcap, op.params.attend.causal);
  return step;
}

}  // namespace rc::opencl
