// The words behind the name of a command, and what is wrong with them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands.h"

namespace cli {

// Reads the words of the command line before they are parsed. Throws a Failure
// for an unknown command, and for unknown options, missing values and words
// that do not go together. Returns the text of --help if that was asked for.
std::optional<std::string> check_command_line(const CLI::App& program, int argc,
                                              char** argv);

// The names of the options of a command, "--max-tokens" and "-n".
std::vector<std::string> option_names(const CLI::App& command);

// The name of an option in messages: "--max-tokens", or "MODEL".
std::string shown_name(const CLI::Option& option);

}  // namespace cli
