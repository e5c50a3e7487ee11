// The options that say what a generated text may be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "commands.h"

namespace cli {

class GrammarChoice {
 public:
  // At most one of them may be given.
  void add_to(CLI::App& command);
  // None of them goes with that option.
  void exclude(CLI::Option* option);
  // The files that are read; "" for those that are not given.
  std::vector<std::string> files() const {
    return {schema_file_, grammar_file_};
  }
  // Reads the file that was named, if any; throws a Failure.
  void read();
  // nullptr if nothing was asked for. Throws a Failure that names the file.
  Grammar compile(const Model& model) const;

 private:
  void read_file(const std::string& path);

  std::string schema_file_;
  bool is_open_ = false;  // any JSON that the schema allows
  std::string grammar_file_;
  std::string regex_;
  std::vector<std::string> choices_;
  std::vector<CLI::Option*> options_;  // all that follow
  CLI::Option* schema_option_ = nullptr;
  const CLI::Option* grammar_option_ = nullptr;
  const CLI::Option* regex_option_ = nullptr;
  const CLI::Option* choices_option_ = nullptr;
  std::string text_;  // of the file
};

// Whether the tokens are a whole text of the grammar, which nothing can follow.
// Throws a Failure.
bool is_whole(const Grammar& grammar, const std::vector<int32_t>& tokens);

}  // namespace cli
