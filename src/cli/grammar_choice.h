// The options that say what a generated text may be.
#pragma once

#include <string>
#include <vector>

#include "commands.h"

namespace cli {

class GrammarChoice {
 public:
  // At most one of them may be given.
  void add_to(CLI::App& command);
  // Reads the file that was named, if any; throws a Failure.
  void read();
  // nullptr if nothing was asked for. Throws a Failure that names the file.
  Grammar compile(const Model& model) const;

 private:
  void read_file(const std::string& path);

  std::string schema_file_;
  std::string grammar_file_;
  std::string regex_;
  std::vector<std::string> choices_;
  const CLI::Option* regex_option_ = nullptr;
  std::string text_;  // of the file
};

}  // namespace cli
