// Environment variables, checked. A variable that is empty counts as absent,
// and so does every one in a program that runs with raised privileges.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rc {

std::optional<std::string> environment(const char* name);

// Throws RC_E_INVALID_ARGUMENT, naming variable, value and limits, if the value
// is no decimal integer from minimum to maximum.
std::optional<int64_t> environment_integer(const char* name, int64_t minimum,
                                           int64_t maximum);

}  // namespace rc
