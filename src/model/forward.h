// The forward pass, as a program.
#pragma once

#include <span>
#include <string>

#include "files/gguf/file.h"
#include "model/architecture.h"
#include "model/model_file.h"
#include "model/program_inputs.h"
#include "runtime/program.h"

namespace rc::model {

struct WantedOutput {
  ForwardOutput output = ForwardOutput::kLogits;
  ScoreTokens tokens;  // of scores of a model without a classifier
};

// The inputs are `inputs`, the outputs those of ForwardOutput, and the caches
// those of layer_states(). Part 0 is the embedding, part 1 + i layer i, the
// last the output norm and matrix, which models that give hidden rows have not.
// rope_scales: Rope::scale by number. `source` is of the part that reads a
// source, if there is one: then the program has the stages of ForwardStage, and
// further parts, which are the embedding and the layers of that, and for each
// layer what is stored for it. `wanted` is what the output is.
// Throws RC_E_FORMAT or RC_E_UNSUPPORTED naming the first tensor of the file
// that is missing or not as the program needs it; with `missing`, all that are
// missing or of another shape are added to it, and the program has them.
runtime::ProgramDescription forward_program(
    const Architecture& architecture, const HyperParameters& hyper,
    std::span<const float> rope_scales, const HyperParameters* source,
    const gguf::File& file, const CacheLayout& layout,
    const WantedOutput& wanted, const ProgramInputs& inputs,
    MissingTensors* missing = nullptr);

}  // namespace rc::model
