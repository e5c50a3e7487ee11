// Steps that carry a state from row to row of a sequence.
#include "opencl/arguments.h"
#include "opencl/compiler.h"

namespace rc::opencl {

Step Compiler::short_conv(const Op& op) {
  const int64_t d = input(op, 0).shape[1];
  const int64_t width = input(op, 1).shape[1];
  const Place x = place(op.inputs[0]);
  const Place sequences = place(op.inputs[3]);
  const Place slots = place(op.inputs[4]);
  const Place cache = place(op.inputs[5]);
  const Place to = place(op.outputs[0]);
  Step step;
  step.cost = static_cast<uint64_t>(d) * static_cast<uint64_t>(width);
  step.narrow = range(device_.library().kernel("short_conv.cl", "short_conv",
                                               definition("WIDTH", width)),
                      (d + tuning_.lanes - 1) / tuning_.lanes, tuning_.plain);
  set_arguments(
      step.narrow.kernel, 0, x.memory, x.offset, elements(op.inputs[1]),
      elements(op.inputs[2]), sequences.memory, sequences.offset, slots.memory,
      slots.offset, cache.memory, cache.offset, to.memory, to.offset, number(d),
      number(input(op, 5).shape[0]), op.params.short_conv.function, counts_);
  return step;
}

Step Compiler::selective_scan(const Op& op) {
  const rc_plugin_value& shape = input(op, 0);
  const int64_t elements_of_heads = shape.shape[1] * shape.shape[2];
  const int64_t columns = input(op, 2).shape[2];
  // On GPUs neighbours read neighbouring elements of a state.
  constexpr int kParts = 8;
  const int parts = tuning_.lanes == 1 && tuning_.plain >= kParts ? kParts : 1;
  const int items = tuning_.plain / parts * parts;
  const Place x = place(op.inputs[0]);
  const Place steps = place(op.inputs[1]);
  const Place b = place(op.inputs[2]);
  const Place c = place(op.inputs[3]);
  const Place sequences = place(op.inputs[7]);
  const Place slots = place(op.inputs[8]);
  const Place cache = place(op.inputs[9]);
  const Place to = place(op.outputs[0]);
  Step step;
  step.cost = static_cast<uint64_t>(2 * elements_of_heads) *
              static_cast<uint64_t>(columns);
  step.narrow =
      range(device_.library().kernel("selective_scan.cl", "selective_scan",
                                     definition("STATE", columns) +
                                         definition("PARTS", parts) +
                                         definition("GROUP_ITEMS", items)),
            elements_of_heads * parts, items);
  set_arguments(
      step.narrow.kernel, 0, x.memory, x.offset, steps.memory, steps.offset,
      b.memory, b.offset, c.memory, c.offset, elements(op.inputs[4]),
      elements(op.inputs[5]), elements(op.inputs[6]), sequences.memory,
      sequences.offset, slots.memory, slots.offset, cache.memory, cache.offset,
      to.memory, to.offset, number(shape.shape[1]), number(shape.shape[2]),
      number(input(op, 2).shape[1]), number(input(op, 9).shape[0]), counts_);
  return step;
}

}  // namespace rc::opencl
