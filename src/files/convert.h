// Writing a model as a GGUF file, with its weights in a type of choice.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "files/gguf/file.h"
#include "tensor/dtype.h"

namespace rc {

// One of the types that weights can be converted to, by its name in upper or
// lower case. Throws RC_E_INVALID_ARGUMENT naming those for any other text.
DType conversion_type(std::string_view name);

// The fraction that is written, 0 to 1; false stops.
using ConvertProgress = std::function<bool(double fraction)>;

// Writes all metadata and tensors of a model to a new file at `path`, in place
// of one that is there; a file appears only when it is complete. Of matrices of
// plain floats whose rows are whole blocks of `type` the numbers are encoded
// anew; all else stays as it is: vectors, what routes to experts, state spaces,
// positions, and weights that are quantized already. nullopt: everything stays
// as it is. A vocabulary that only tokenizer.huggingface.json has is written as
// tokenizer.ggml.* too (see ggml_vocabulary.h). The bytes are the same on every
// machine. Throws RC_E_IO, RC_E_CANCELLED if `progress` stopped it,
// RC_E_UNSUPPORTED naming a tensor that holds what the type cannot.
void convert_model(const gguf::File& file, const std::string& path,
                   std::optional<DType> type,
                   const ConvertProgress& progress = {});

}  // namespace rc
