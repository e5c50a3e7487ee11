// The types that weights can be written in.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "runcible/convert.h"

namespace cli {

// Says that the option is one of them, in upper or lower case.
inline CLI::Option* takes_type(CLI::Option* option) {
  std::vector<std::string> names;
  for (size_t i = 0; rc_conversion_type(i) != nullptr; ++i) {
    names.emplace_back(rc_conversion_type(i));
  }
  return option->transform(CLI::IsMember(names, CLI::ignore_case));
}

}  // namespace cli
