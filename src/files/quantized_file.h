// A model file as it would be after it was quantized, without writing it.
#pragma once

#include <memory>
#include <string>

#include "files/gguf/file.h"

namespace rc {

// Looks like the file that convert_model makes with that type or mix of
// quantize/mixes.h, also of weights that are quantized already, to the last
// byte: what is read of a tensor is quantized while it is read, a piece at a
// time, on the thread that reads. Throws what convert_model throws; a weight
// that its type cannot hold is found by reading it.
std::shared_ptr<const gguf::File> quantized_file(
    std::shared_ptr<const gguf::File> file, const std::string& type);

}  // namespace rc
