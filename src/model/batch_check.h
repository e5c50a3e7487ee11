// Checks of a batch, because a backend trusts the numbers in it. Each throws
// RC_E_INVALID_ARGUMENT naming the value that is wrong.
#pragma once

#include <cstdint>
#include <vector>

#include "model/program_inputs.h"

namespace rc::model {

// Checks the values that the step states for the inputs of a stage.
void check_batch(const GivenBatch& given, const ProgramInputs& inputs,
                 ForwardStage stage, const runtime::ProgramLimits& limits);

// Counts the rows of each sequence of a batch whose rows see all of theirs.
// Rows of an earlier batch have not seen those of this one, so each sequence
// must be there as a whole.
void count_whole_lengths(const Batch& batch, std::vector<int32_t>& lengths);

}  // namespace rc::model
