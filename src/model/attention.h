// Attention: the weighted mean of the positions that a row sees.
#pragma once

#include <string>

#include "model/architecture.h"
#include "model/weights.h"
#include "runtime/program.h"

namespace rc::model {

// `how` has the values of the program; the rest is what the architecture and
// the layer say, whose name is "blk.N.". Gives [rows, heads, value_size].
runtime::Value add_attention(runtime::ProgramBuilder& builder, Weights& weights,
                             const Architecture& architecture,
                             const HyperParameters& hyper, const Layer& layer,
                             const std::string& name,
                             runtime::ProgramBuilder::GeneralAttention how);

}  // namespace rc::model
