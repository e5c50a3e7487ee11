// The norms of an architecture, as ops of a forward program.
#pragma once

#include <string>

#include "model/architecture.h"
#include "model/weights.h"
#include "runtime/program.h"

namespace rc::model {

inline constexpr const char* kEpsilonOfSquares =
    "attention.layer_norm_rms_epsilon";

// The norms of a file's model.
Norm norm_of(const Architecture& architecture, const gguf::File& file);

// Over the last dimension of x, which is [rows, width] or [rows, heads, size];
// `name` is the weight's, as in TensorNames.
runtime::Value add_norm(runtime::ProgramBuilder& builder, Weights& weights,
                        const Architecture& architecture, float epsilon,
                        runtime::Value x, const std::string& name);

// The weight of a norm of heads that has none in the file: key_size ones. No
// tensor of a file has this name.
inline constexpr const char* kOnesWeight = "(ones)";

// RC_OP_RMS_NORM of x [rows, heads, key_size] with that weight.
runtime::Value add_unweighted_norm(runtime::ProgramBuilder& builder,
                                   runtime::Value x, float epsilon);

}  // namespace rc::model
