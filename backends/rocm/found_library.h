// A library of ROCm, whose name has the number of a version.
#pragma once

#include <span>
#include <string>

#include "base/library.h"

namespace rc::rocm {

struct FoundLibrary {
  rc::Library library;  // may not be loaded
  std::string name;
  std::string failure;  // why it is not
};

// The library that the variable of the environment names, else the first of
// those names that can be loaded.
FoundLibrary find_library(const char* variable,
                          std::span<const char* const> names);

}  // namespace rc::rocm
