// The options that say how a conversation is written down for the model.
#pragma once

#include <string>
#include <vector>

#include "commands.h"

namespace cli {

// Returns the contents of a file; "-" is stdin. Throws a Failure.
std::string read_file(const std::string& path);
// The same of a file that the library takes as a C string. Throws a Failure if
// it has a NUL, where the text would end.
std::string read_text_file(const std::string& path);

class ChatChoice {
 public:
  // Adds --tools.
  void add_tools(CLI::App& command);
  // Adds those of the template. Returns them.
  std::vector<CLI::Option*> add_template(CLI::App& command);
  // Reads the files that were named; throws a Failure.
  void read();
  // Good while this lives.
  rc_chat_options options() const;
  bool has_tools() const { return !tools_file_.empty(); }

 private:
  std::string tools_file_;
  std::string name_;
  std::string file_;
  std::string arguments_;
  std::string now_;
  std::string thinking_;
  // Of the files.
  std::string tools_;
  std::string source_;
};

}  // namespace cli
