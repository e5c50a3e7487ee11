// Files that a command writes.
#pragma once

#include <string>
#include <vector>

#include "commands.h"

namespace cli {

// The ways to write a file: as a new one that gets the name when it is
// complete, or through the name, which may be that of a pipe or a device.
enum class Writing { kReplaces, kThrough };

// Throws a Failure unless a file may be written at `path`: that is a new name,
// or a file to be replaced by `force`, but never one of the `inputs`, by any
// name, nor a file of a folder among them or of a model in several files. Does
// nothing for "". `hint` says how to replace the file.
void check_output(const std::string& path, bool force, Writing writing,
                  const std::vector<std::string>& inputs,
                  const std::string& hint = "--force replaces it");

// The option --force, for commands with an output file.
void add_force(CLI::App& command, bool& force);

}  // namespace cli
