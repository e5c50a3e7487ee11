// Ops of a graph that its device does not support.
#pragma once

#include "runtime/program.h"

namespace rc::compute {

// Makes ops that `device` does not support work on copies in scratch memory,
// which crosses to the CPU and back. Ops that use one buffer have to run on one
// device; without the copies, one unsupported op would move every op that reads
// the same tensors to the CPU.
void set_apart(runtime::ProgramDescription& description,
               const runtime::Device& device);

}  // namespace rc::compute
