// The module of the level `relaxed`, whose only function this is: it
// multiplies, or gives 0 for a type of weights that it has no products of. The
// stack is whatever the instance's __stack_pointer is set to.
#include "cpu/kernels.h"

namespace rc::cpu::relaxed {
LinearFunction linear_function(rc_dtype weight);
}

extern "C" int32_t rc_relaxed_multiply(rc_dtype weight,
                                       const rc::cpu::LinearTask& task) {
  const rc::cpu::LinearFunction function =
      rc::cpu::relaxed::linear_function(weight);
  if (function == nullptr) return 0;
  function(task);
  return 1;
}
