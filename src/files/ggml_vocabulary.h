// The vocabulary of a tokenizer.json under the keys tokenizer.ggml.*, for
// programs that know only these.
#pragma once

#include "files/gguf/file.h"
#include "files/gguf/writer.h"

namespace rc {

// Adds them to what is written of `file` if it has tokenizer.huggingface.json,
// no tokenizer.ggml.model, and the tokenizer is one that these keys describe:
// byte pair encoding over bytes with a pre-tokenizer that has a name in
// tokenizer.ggml.pre. Adds nothing otherwise.
void add_ggml_vocabulary(const gguf::File& file, gguf::Writer& writer);

}  // namespace rc
