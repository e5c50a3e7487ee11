// The topics of help, and the command that prints them.
#pragma once

#include "commands.h"

namespace cli {

// "run, devices, ...": those that have been added so far.
std::string command_names(const CLI::App& program);

// The command of that name; nullptr: none.
const CLI::App* find_command(const CLI::App& program, const std::string& name);

// The commands, and the other topics of help.
std::vector<std::string> help_topics(const CLI::App& program);

// The text of help on a topic; "": on the program. Throws a Failure for an
// unknown topic.
std::string help_text(const CLI::App& program, const std::string& topic);

// The command help, which knows all others.
void add_help(CLI::App& program);

}  // namespace cli
