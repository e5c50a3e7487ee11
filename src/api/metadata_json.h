// Metadata values of a model file as JSON.
#pragma once

#include <cstddef>
#include <string>

#include "files/gguf/file.h"

namespace rc::api {

// "u32", "string", "array of f32".
std::string type_text(const gguf::Entry& entry);

// Arrays, nested ones too, are cut after max_elements (0: whole). What is not
// UTF-8 becomes U+FFFD; numbers that JSON cannot write become null.
std::string value_json(const gguf::Entry& entry, size_t max_elements);

}  // namespace rc::api
