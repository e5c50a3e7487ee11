// Ops that are so small that everything else about them would take longer: a
// program for one run.
#pragma once

#include <cstdint>
#include <span>

#include "cpu/kernels.h"
#include "cpu/pool.h"
#include "tensor/op.h"

namespace rc::cpu {

// Does an op whose values lie at `memory`, by number, if it is small: on the
// calling thread, and what is worth it on those of the pool, too; false: it is
// not, and nothing has been done. What it computes is what a program of the op
// computes.
bool run_at_once(const Kernels& kernels, Pool& pool, const Op& op,
                 std::span<const rc_plugin_value> values,
                 uint8_t* const* memory);

}  // namespace rc::cpu
