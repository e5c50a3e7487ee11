// What a batch must be: a backend trusts what it reads there. Each throws
// RC_E_INVALID_ARGUMENT naming what is wrong.
#pragma once

#include <cstdint>
#include <vector>

#include "model/program_inputs.h"

namespace rc::model {

// Checks what is stated for the inputs that a stage uses.
void check_batch(const GivenBatch& given, const ProgramInputs& inputs,
                 ForwardStage stage, const runtime::ProgramLimits& limits);

// Counts the rows of each sequence of a batch whose rows see all of theirs.
// Rows of an earlier batch have not seen those of this one, so each sequence
// must be there as a whole.
void count_whole_lengths(const Batch& batch, std::vector<int32_t>& lengths);

}  // namespace rc::model
