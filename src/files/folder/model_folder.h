// A Hugging Face folder as a file that the engine knows: metadata made of
// config.json and its neighbours, tensors of safetensors under their names in
// GGUF, translated while they are read.
#pragma once

#include <memory>
#include <string>

#include "files/gguf/file.h"

namespace rc::folder {

// Opens and checks all but the data of tensors. Throws RC_E_NOT_FOUND,
// RC_E_IO; RC_E_FORMAT naming the file and what is wrong in it;
// RC_E_UNSUPPORTED naming a model_type, tensor or member of config.json that
// asks for something that is not known.
std::shared_ptr<const gguf::File> open_folder(const std::string& path);

}  // namespace rc::folder
