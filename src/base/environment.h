// Environment variables. In a program that runs with raised privileges every
// one counts as absent.
#pragma once

#include <optional>
#include <string>

namespace rc {

// One that is empty counts as absent.
std::optional<std::string> environment(const char* name);

// The path of a folder of the user: HOME, TMPDIR and the XDG_*_HOME. A relative
// path counts as absent, as the XDG Base Directory Specification demands: files
// would go to whatever folder the program runs in.
std::optional<std::string> environment_folder(const char* name);

// For those that mean something when they are empty.
std::optional<std::string> environment_as_it_is(const char* name);

}  // namespace rc
