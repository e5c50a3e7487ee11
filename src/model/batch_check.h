// What a batch must be: a backend trusts what it reads there. Each throws
// RC_E_INVALID_ARGUMENT naming what is wrong.
#pragma once

#include <cstdint>
#include <vector>

#include "model/resident_model.h"

namespace rc::model {

// `of_sources`: for ResidentModel::read_sources.
void check_batch(const Batch& batch, const ModelFile& file,
                 const ResidentOptions& options, bool of_sources = false);

// No sequence may write what another reads or writes.
void check_slots(const Batch& batch, int64_t slots);

// The lengths of the sequences of a batch whose rows see all of theirs. Rows of
// an earlier batch have not seen those of this one, so each sequence must be
// there as a whole.
std::vector<int32_t> whole_lengths(const Batch& batch);

}  // namespace rc::model
