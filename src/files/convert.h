// Writing a model as a GGUF file, with its weights in types of choice.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "files/gguf/file.h"

namespace rc {

// The fraction that is written, 0 to 1; false stops. On the caller's thread.
using ConvertProgress = std::function<bool(double fraction)>;

struct Conversion {
  // A type or a mix (files/quantize/mixes.h); empty: everything stays as it is.
  std::string type = {};
  std::string importance = {};  // a file (files/importance/read.h); empty: none
  std::vector<std::string> tensors =
      {};           // "REGEX=TYPE"; they come before the type
  int threads = 0;  // 0: as many as there are processors
  // Whether weights that are quantized already, but of more bits, are encoded
  // again.
  bool requantizes = false;
  ConvertProgress progress = {};
};

// Throws RC_E_INVALID_ARGUMENT for a type or a text that is none, before any
// file is looked at.
void check_conversion(const Conversion& conversion);

// Writes all metadata and tensors of a model to a new file at `path`, in place
// of one that is there; a file appears only when it is complete. A vocabulary
// that only tokenizer.huggingface.json has is written as tokenizer.ggml.* too
// (see ggml/vocabulary.h). The bytes are the same on every machine and for any
// number of threads, and memory is bounded whatever the model's size. Throws
// RC_E_IO, RC_E_CANCELLED if `progress` stopped it, RC_E_UNSUPPORTED naming a
// tensor that holds what its type cannot, RC_E_FORMAT for an importance that is
// malformed or of another model, and what check_conversion throws.
void convert_model(const gguf::File& file, const std::string& path,
                   const Conversion& conversion);

}  // namespace rc
