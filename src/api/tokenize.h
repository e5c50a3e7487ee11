// Checks of arguments that several functions take: tokens and how to make them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rc::api {

void check_tokenize_flags(uint32_t flags, const char* name);
void check_tokens(const int32_t* tokens, size_t count, int64_t vocabulary,
                  const char* name);

}  // namespace rc::api
