// The types that weights can be written in.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "one_of.h"
#include "runcible/convert.h"

namespace cli {

// The names of the types, from the library.
inline std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (size_t i = 0; rc_conversion_type(i) != nullptr; ++i) {
    names.emplace_back(rc_conversion_type(i));
  }
  return names;
}

// The type name of such options, and the topic of help that lists the types.
inline constexpr char kTypeName[] = "TYPE";
inline constexpr char kTypesTopic[] = "types";

// Says that the option is one of them, in upper or lower case.
inline CLI::Option* takes_type(CLI::Option* option) {
  return one_of(option, type_names(), true,
                "the types that runcible help types lists")
      ->type_name(kTypeName);
}

}  // namespace cli
