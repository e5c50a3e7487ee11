// The PTX that the module carries.
#pragma once

#include <string_view>

namespace rc::cuda {

// The text of a kernel compiled with these definitions; "" if there is none.
std::string_view ptx_of(std::string_view kernel, std::string_view definitions);

}  // namespace rc::cuda
