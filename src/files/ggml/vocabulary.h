// The vocabulary of a tokenizer.json under the keys tokenizer.ggml.*, for
// programs that know only these.
#pragma once

#include "files/gguf/file.h"
#include "files/gguf/writer.h"

namespace rc {

// Adds them to what is written of `file` if it has tokenizer.huggingface.json
// and no tokenizer.ggml.model. Where these keys cannot say what the tokenizer
// does, nothing is added, and a warning of the log says why; so it does where
// they say nearly the same.
void add_ggml_vocabulary(const gguf::File& file, gguf::Writer& writer);

}  // namespace rc
