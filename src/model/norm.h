// The norms of an architecture, as ops of a forward program.
#pragma once

#include <string>

#include "model/architecture.h"
#include "model/weights.h"
#include "runtime/program.h"

namespace rc::model {

// Over the last dimension of x, which is [rows, width] or [rows, heads, size];
// `name` is the weight's, as in TensorNames.
runtime::Value add_norm(runtime::ProgramBuilder& builder, Weights& weights,
                        const Architecture& architecture, float epsilon,
                        runtime::Value x, const std::string& name);

}  // namespace rc::model
