// Which ops of a program compute the experts of its layers.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/program.h"

namespace rc::model {

// The products of each row with its chosen experts, and what is made of these
// up to their sum, which is one of them. The choice is not. Numbers of ops, in
// their order.
std::vector<size_t> expert_ops(const runtime::ProgramDescription& description);

}  // namespace rc::model
