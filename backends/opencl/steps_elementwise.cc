// UNARY and BINARY.
#include "opencl/arguments.h"
#include "opencl/compiler.h"
#include "opencl/walk.h"

namespace rc::opencl {

Step Compiler::unary(const Op& op) {
  const rc_plugin_value& x = input(op, 0);
  const Walk walk(x.shape, x.rank, {broadcast_strides(x, x)});
  const Place from = place(op.inputs[0]);
  const Place to = place(op.outputs[0]);
  Step made = walk.step(device_.library().kernel("tensor_elementwise.cl",
                                                 "unary", Walk::definitions()),
                        tuning_, tuning_.vector);
  set_arguments(made.kernel, 0, from.memory, from.offset, to.memory, to.offset,
                walk.sizes(), op.params.unary.function);
  return made;
}

Step Compiler::binary(const Op& op) {
  const rc_plugin_value& y = output(op);
  const Walk walk(
      y.shape, y.rank,
      {broadcast_strides(input(op, 0), y), broadcast_strides(input(op, 1), y)});
  const Place a = place(op.inputs[0]);
  const Place b = place(op.inputs[1]);
  const Place to = place(op.outputs[0]);
  Step made = walk.step(device_.library().kernel("tensor_elementwise.cl",
                                                 "binary", Walk::definitions()),
                        tuning_, tuning_.vector);
  set_arguments(made.kernel, 0, a.memory, a.offset, b.memory, b.offset,
                to.memory, to.offset, walk.sizes(), walk.strides(0),
                walk.strides(1),
                cl_int{op.params.binary.function == RC_BINARY_MUL ? 1 : 0});
  return made;
}

}  // namespace rc::opencl
