// The texts of --help, 80 columns wide.
#pragma once

#include <string>

#include "commands.h"

namespace cli {

// "NUMBER", "FILE", "auto|off"; "" for a flag.
std::string type_text(const CLI::Option& option);

// "Usage: runcible verify MODEL [OPTIONS]", the arguments, and the options by
// group.
std::string command_help(const CLI::App& command);

// The commands by group. `footer` comes last.
std::string program_help(const CLI::App& program, const std::string& footer);

// A text of lines of at most 80 columns, all of which begin with `margin`
// spaces.
std::string wrapped(const std::string& text, size_t margin);

}  // namespace cli
