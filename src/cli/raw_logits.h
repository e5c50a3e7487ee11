// The logits of every position of a list of tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "handles.h"

namespace cli {

// Evaluates the tokens in a session of its own and writes rows [positions,
// vocabulary] of little-endian f32. On a CPU device they are bit for bit those
// that a generation saw; see the promise of determinism.
void write_raw_logits(const Model& model, const std::vector<int32_t>& tokens,
                      const std::string& path);

}  // namespace cli
