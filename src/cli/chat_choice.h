// The options that say how a conversation is written down for the model.
#pragma once

#include <string>

#include "commands.h"

namespace cli {

// What a file holds; "-" is stdin. Throws a Failure.
std::string read_file(const std::string& path);

class ChatChoice {
 public:
  void add_to(CLI::App& command);
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
  std::string date_;
  std::string thinking_;
  // Of the files.
  std::string tools_;
  std::string source_;
};

}  // namespace cli
