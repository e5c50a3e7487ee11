// What the command says about itself, and about words that are no commands.
#pragma once

#include "commands.h"

namespace cli {

// "run, devices, ...": those that have been added so far.
std::string command_names(const CLI::App& program);

// What there is help on: those, and one more.
std::vector<std::string> help_topics(const CLI::App& program);

// Throws a Failure with the list of commands unless the first word is one of
// them, or an option.
void check_command(const CLI::App& program, int argc, char** argv);

// The command help, which knows all others.
void add_help(CLI::App& program);

}  // namespace cli
