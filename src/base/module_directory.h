// Where this library lies, for what is found next to it.
#pragma once

#include <string>

namespace rc {

// The folder of the shared library, or of the program that the static library
// is linked into; without symbolic links. "" if it is not known for certain.
std::string module_directory();

}  // namespace rc
