// Environment variables. In a program that runs with raised privileges every
// one counts as absent.
#pragma once

#include <optional>
#include <string>

namespace rc {

// One that is empty counts as absent.
std::optional<std::string> environment(const char* name);

// For those that mean something when they are empty.
std::optional<std::string> environment_as_it_is(const char* name);

}  // namespace rc
