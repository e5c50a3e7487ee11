// Instruction-set levels: which this machine has and which is used.
#pragma once

#include <string>
#include <vector>

#include "cpu/kernels.h"

namespace rc::cpu {

struct Level {
  const char* name;  // as RUNCIBLE_ISA spells it
  const Kernels* kernels;
  bool (*available)();
};

// Those this binary was built with, the lowest first: the one that is taken by
// default is the last of those that the processor can run.
const std::vector<Level>& levels();

// Those that the processor can run, the lowest first.
std::vector<const Level*> available_levels();

// The last one of `usable`. Fails with RC_E_UNSUPPORTED if there is none, as in
// a build for the levels of another machine.
const Level& highest_level(const std::vector<const Level*>& usable);

// The instructions of the processor, whether or not a level uses them.
struct Arithmetic {
  bool fp16 = false;      // 16-bit floats
  bool bf16 = false;      // products of bfloat16
  bool int8_dot = false;  // sums of products of 8-bit integers
};
Arithmetic arithmetic();

// Returns the level that the setting library.isa (RUNCIBLE_ISA) names or, if it
// is unset, the highest available one. Fails with RC_E_UNSUPPORTED if the
// processor does not support the named level, and with RC_E_INVALID_ARGUMENT if
// there is no such level.
const Level& chosen_level();

// Returns the level of that name, with the same errors. `subject` names the
// setting in messages.
const Level& level_by_name(const std::string& name, const std::string& subject);

}  // namespace rc::cpu
