// Options whose value is one of a few words.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace cli {

// Adds the check that the value is one of `names`, and the names to what the
// option says of itself. A value in the wrong case is taken if `any_case`.
// `more` describes the list in messages; "": the list itself.
CLI::Option* one_of(CLI::Option* option, const std::vector<std::string>& names,
                    bool any_case = false, const std::string& more = "");

// The names that were given to one_of; none for other options.
std::vector<std::string> choices_of(const CLI::Option& option);

// "a, b, c".
std::string joined(const std::vector<std::string>& words,
                   const char* between = ", ");

}  // namespace cli
