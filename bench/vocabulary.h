// Made-up vocabularies of the size of real ones, so that files with random
// weights are whole model files.
#pragma once

#include "files/gguf/writer.h"
#include "shapes.h"

namespace rc::bench {

// Adds the tokenizer.* entries.
void add_vocabulary(const Shape& shape, gguf::Writer* writer);

}  // namespace rc::bench
