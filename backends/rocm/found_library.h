// A library of ROCm, whose name has the number of a version.
#pragma once

#include <span>
#include <string>

#include "base/error.h"
#include "base/library.h"

namespace rc::rocm {

struct FoundLibrary {
  // Sets the function pointer. Throws RC_E_BACKEND_UNAVAILABLE, ending with
  // `needed`, if the library has no function of that name.
  template <class Function>
  void take(Function& function, const char* symbol, const char* needed) const {
    if (library.find(function, symbol)) return;
    fail(RC_E_BACKEND_UNAVAILABLE, name, " has no function ", symbol, needed);
  }

  rc::Library library;  // may not be loaded
  std::string name;
  std::string failure;  // why it is not
};

// The library that the variable of the environment names, else the first of
// those names that can be loaded.
FoundLibrary find_library(const char* variable,
                          std::span<const char* const> names);

}  // namespace rc::rocm
