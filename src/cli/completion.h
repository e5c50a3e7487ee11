// The words that shells can complete, from the command's own description.
#pragma once

#include <string>
#include <vector>

#include "commands.h"

namespace cli {

// An option, or what stands alone behind a command.
struct Completed {
  enum class Value { kNone, kText, kFile, kChoice };

  std::vector<std::string> names;  // "-n", "--tokens"; none if it stands alone
  std::string description;
  Value value = Value::kText;
  std::vector<std::string> choices;
};

struct CompletedCommand {
  std::string name;
  std::string description;
  std::vector<Completed> options;
  std::vector<Completed> alone;  // the first, if any
};

std::vector<CompletedCommand> completed_commands(const CLI::App& program);

// Scripts for these shells, which complete the words of `runcible`.
std::string bash_completion(const std::vector<CompletedCommand>& commands);
std::string zsh_completion(const std::vector<CompletedCommand>& commands);
std::string fish_completion(const std::vector<CompletedCommand>& commands);

}  // namespace cli
