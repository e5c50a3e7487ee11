// softplus(x) = ln(1 + exp(x)) in forward programs.
#pragma once

#include <cstdint>

#include "model/rope_weights.h"
#include "runtime/program.h"

namespace rc::model {

// Adds the weights that add_softplus needs for rows of so many elements.
void make_softplus(int64_t size, MadeWeights& made);

// Returns it for x [rows, size], with a relative error of about 1e-6.
runtime::Value add_softplus(runtime::ProgramBuilder& builder, runtime::Value x);

}  // namespace rc::model
