// A number that distinguishes models, for saved sessions: their KV cache means
// nothing to another model.
//
// FNV-1a, 64 bits (draft-eastlake-fnv), over the architecture's and the
// tokenizer's metadata in the order of the file (key, type, element type,
// count, bytes) and over every tensor: name, type, shape and its first bytes,
// since two trainings of one model differ only there. Every number goes in as
// 8 little-endian bytes and every text after its length, so the result is the
// same on every machine. Names, authors and the like do not count.
#pragma once

#include <cstdint>

#include "files/gguf/file.h"

namespace rc::model {

uint64_t fingerprint(const gguf::File& file);

}  // namespace rc::model
