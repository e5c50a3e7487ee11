// The parameters of an op as text, for those who have no structs of C.
#pragma once

#include <string>

#include "tensor/op.h"

namespace rc {

// A JSON object: every parameter by its name in rc_plugin_params, those of
// RC_FUNCTION_*, RC_UNARY_*, RC_BINARY_*, RC_REDUCE_*, RC_ROPE_* and RC_SCORE_*
// by the end of the constant's name in lower case, flags as true and false.
// Numbers are exact to the last bit.
std::string parameters_json(const Op& op);

}  // namespace rc
