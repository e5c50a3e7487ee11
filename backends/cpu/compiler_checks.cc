// Checks of a program before it becomes steps.
#include "cpu/check.h"
#include "cpu/compiler.h"

namespace rc::cpu {

void Compiler::check_program() const {
  program_.check(
      [](const rc_plugin_weight* weight) -> plugin::WeightShape {
        return {weight->dtype,
                {weight->shape, static_cast<size_t>(weight->rank)}};
      },
      [](const rc_plugin_buffer* buffer) { return buffer->bytes; });
  for (const Op& op : program_.ops) check_supported(op, program_.values);
}

}  // namespace rc::cpu
