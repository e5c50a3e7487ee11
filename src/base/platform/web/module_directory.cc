// A WebAssembly module lies in no folder that it could look into.
#include "base/module_directory.h"

namespace rc {

std::string module_directory() { return {}; }

}  // namespace rc
