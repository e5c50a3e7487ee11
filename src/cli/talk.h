// A conversation of the command: what is asked, what is shown, and the commands
// that begin with a slash.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "chat_choice.h"
#include "commands.h"
#include "line_reader.h"

namespace cli {

struct TalkOptions {
  ModelChoice model;
  ChatChoice chat;
  rc_generate_options generation = RC_GENERATE_OPTIONS_INIT;
  std::string system;  // the first message; "": none
  bool speed = false;  // a line about it after each answer
};

class Talk {
 public:
  // Loads the model. `options` must outlive it.
  Talk(const TalkOptions& options, LineReader* lines);

  // Until the end of the lines, or /quit.
  void run();

 private:
  using Json = nlohmann::ordered_json;
  // A model on its device, and a conversation with it.
  struct Loaded {
    std::string path;
    Backend backend;
    Model model;
    Session session;
    Chat chat;
  };
  // A command that begins with a slash, and what it does with the rest of its
  // line; false ends the conversation.
  struct Command {
    const char* name;
    const char* help;
    bool (Talk::*act)(const std::string& rest);
  };
  static const std::vector<Command>& commands();

  // A conversation of these messages with the model at `path`.
  Loaded load(const std::string& path, const Json& messages) const;
  // Begins a conversation of these messages with the model of `loaded`.
  void begin(const Json& messages, Loaded* loaded) const;
  // "builtin:fable on cpu:0".
  std::string loaded_text() const;
  void add(const Json& message);
  Json messages() const;
  // Several lines as one; nothing at the end.
  std::optional<std::string> read();
  bool take(const std::string& text);
  void ask(const std::string& text);
  // Answers, and calls of tools with what the user says they give.
  void answer();
  rc_generate_report stream(std::vector<Json>* calls);
  bool add_results(const std::vector<Json>& calls);

  bool help(const std::string& rest);
  bool system(const std::string& rest);
  bool undo(const std::string& rest);
  bool retry(const std::string& rest);
  bool save(const std::string& rest);
  bool load_messages(const std::string& rest);
  bool change_model(const std::string& rest);
  bool change_backend(const std::string& rest);
  bool stats(const std::string& rest);
  bool quit(const std::string& rest);

  const TalkOptions& options_;
  LineReader* const lines_;
  std::string backend_spec_;  // once it was changed
  Loaded loaded_;
  std::set<std::string> own_files_;  // saved or loaded by this conversation
  rc_generate_report last_ = RC_GENERATE_REPORT_INIT;
  int64_t answers_ = 0;
  int64_t generated_ = 0;
};

}  // namespace cli
