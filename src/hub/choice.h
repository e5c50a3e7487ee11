// Which files of a repository make the model that was asked for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hub/reference.h"

namespace rc::hub {

struct RepositoryFile {
  std::string name;  // with '/' between folders
  uint64_t size = 0;
};

struct Choice {
  std::vector<std::string> files;
  // The path that loads the model: a file, the first of several parts of one,
  // or empty for the folder that contains config.json.
  std::string main;
};

// With a file: that one, and the other parts if it is one of a GGUF file that
// was split; or those whose name has it as the name of a quantization. Without:
// the GGUF file if there is one; where there is none config.json, weights as
// safetensors and what belongs to the tokenizer. `place` is where the files
// are, for messages. Throws RC_E_NOT_FOUND if nothing fits,
// RC_E_INVALID_ARGUMENT with a list if several GGUF files do.
Choice choose_files(std::span<const RepositoryFile> files,
                    const Reference& reference, std::string_view place);

}  // namespace rc::hub
