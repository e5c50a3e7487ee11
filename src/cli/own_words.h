// Messages of the library, in the words of the command.
#pragma once

#include <string>

#include "commands.h"

namespace cli {

// The command whose options messages are about.
void set_current_command(const CLI::App* command);

// in_own_words (handles.h) replaces the names of options in C by those of the
// command's options, and names of functions by those of commands: "max_tokens
// is -2" becomes "--max-tokens is -2".

}  // namespace cli
