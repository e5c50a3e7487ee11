// Checks the data of tensors, which opening a file does not look at.
#pragma once

#include <cstdint>
#include <functional>

#include "files/gguf/file.h"

namespace rc::gguf {

// Called now and then with the bytes of tensor data checked so far and in all;
// false stops.
using VerifyProgress = std::function<bool(uint64_t done, uint64_t total)>;

// Reads and decodes all tensors. Throws RC_E_FORMAT naming tensor and index of
// the first value that is infinite or not a number; RC_E_IO if the file changed
// meanwhile; RC_E_CANCELLED if `progress` stopped it.
void verify(const File& file, const VerifyProgress& progress = {});

}  // namespace rc::gguf
