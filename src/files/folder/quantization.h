// Folders whose weights are quantized: FP8 with scales for tensors, rows or
// blocks; GPTQ and AWQ; compressed-tensors with whole bytes or packed integers.
//
// Their matrices are read as F32, which holds what they stand for: a number of
// at most 8 bits times a scale. Converting them to a smaller type is up to who
// opens the folder.
#pragma once

#include "files/folder/config.h"
#include "files/safetensors/shards.h"

namespace rc::folder {

// Puts matrices of F32 in place of quantized ones and of all that belongs to
// them, as quantization_config of config.json says; without it everything
// stays. Throws RC_E_UNSUPPORTED naming a scheme that is not known, RC_E_FORMAT
// naming a tensor that is missing or has the wrong shape or type.
void expand_quantized(const Config& config, safetensors::Shards& shards);

}  // namespace rc::folder
