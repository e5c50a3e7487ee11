// The ops that this backend can compute.
#pragma once

#include <span>

#include "tensor/op.h"

namespace rc::cpu {

// Throws RC_E_UNSUPPORTED, with the reason, for an op that cannot be computed.
// It is as plugin.h describes it.
void check_supported(const Op& op, std::span<const rc_plugin_value> values);

}  // namespace rc::cpu
