// The input of the first layer: rows made from tokens and, in some models, from
// positions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "files/gguf/file.h"
#include "model/architecture.h"
#include "model/weights.h"
#include "runtime/program.h"

namespace rc::model {

// The weight that holds learned_positions; no tensor of a file has this name.
inline constexpr const char* kPositionWeight = "(positions of all types)";

// The number of types of tokens that are distinguished: 0, 1 or 2, the first
// and the second text of a pair.
int64_t type_count(const gguf::File& file, const Architecture& architecture);

// The tables of positions [type_count * context_length, width] of a file whose
// tokens have types: with the row of a type added to each. All tokens of a text
// on its own are of the first. Nothing if tokens have none, or positions are
// not learned. Throws RC_E_FORMAT naming a tensor that is missing or misshapen.
std::optional<std::vector<float>> learned_positions(
    const gguf::File& file, const Architecture& architecture,
    const HyperParameters& hyper);

// Rows that may take the place of those of tokens, F32 [rows, 1, width], and
// the choice, F32 [rows, 2]: 1 and 0, or 0 and 1 where they do; none: no row
// does.
struct GivenRows {
  runtime::Value rows = runtime::kAbsent;
  runtime::Value choice = runtime::kAbsent;
};

// F32 [rows, width]. `positions` are rows of the table of positions. A given
// row replaces that of a token, scaled as the model scales it; positions, types
// and a norm come after it.
runtime::Value add_embedding(runtime::ProgramBuilder& builder, Weights& weights,
                             const Architecture& architecture,
                             const HyperParameters& hyper,
                             runtime::Value tokens, runtime::Value positions,
                             const GivenRows& given = {});

}  // namespace rc::model
