// Ops of a graph that its device lacks.
#pragma once

#include "runtime/program.h"

namespace rc::compute {

// Ops that use one buffer have to run on one device, so that an op which the
// device lacks would take every op along that reads the same tensors. Lets such
// ops work on copies in scratch memory, which crosses to the CPU and back.
void set_apart(runtime::ProgramDescription& description,
               const runtime::Device& device);

}  // namespace rc::compute
