// Model files in every form that there is.
#pragma once

#include <memory>
#include <string>

#include "files/gguf/file.h"

namespace rc {

// Opens a GGUF file, the GGUF files that one of them is a part of (see
// files/gguf/parts.h), or a Hugging Face folder as one file (see
// files/folder/model_folder.h). The path is UTF-8. Throws what
// gguf::File::open, gguf::join_parts and folder::open_folder throw.
std::shared_ptr<const gguf::File> open_model(const std::string& path);

}  // namespace rc
