#include "command_line.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "help.h"
#include "help_text.h"
#include "nearest.h"
#include "one_of.h"
#include "own_words.h"
#include "type_choice.h"

namespace cli {
namespace {

bool is_flag(const CLI::Option& option) {
  return option.get_expected_max() == 0;
}

bool takes_many(const CLI::Option& option) {
  return is_flag(option) || option.get_expected_max() > 1 ||
         option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
}

std::string see_help(const CLI::App& command) {
  return " (see runcible " + command.get_name() + " --help)";
}

[[noreturn]] void refuse(const std::string& message) {
  throw Failure{kUsage, message};
}

// The words behind the name of a command.
class GivenWords {
 public:
  GivenWords(const CLI::App& program, const CLI::App& command,
             std::vector<std::string> words)
      : program_(program), command_(command), words_(std::move(words)) {}

  void read() {
    bool values_only = false;
    for (at_ = 0; at_ < words_.size(); ++at_) {
      const std::string& word = words_[at_];
      if (values_only || word.size() < 2 || word[0] != '-') {
        values_.push_back(word);
      } else if (word == "--") {
        values_only = true;
      } else if (word[1] == '-') {
        read_long(word);
      } else {
        read_short(word);
      }
    }
  }

  // The topic of help that was asked for, "" for that of the command itself.
  const std::optional<std::string>& help() const { return help_; }

  void check() {
    check_unknown();
    if (!mistake_.empty()) refuse(mistake_ + see_help(command_));
    check_counts();
    check_values();
    give_arguments();
    check_companions();
    check_required();
  }

 private:
  // `attached` is the value behind = or behind a letter; nullptr: none.
  void take(const CLI::Option* option, const std::string& name,
            const std::string* attached) {
    if (name == "-h" || name == "--help") {
      help_ = "";
      if (at_ + 1 < words_.size() && words_[at_ + 1] == kTypesTopic) {
        help_ = words_[at_ + 1];
      }
      return;
    }
    if (option == nullptr) {
      unknown_.push_back(name);
      return;
    }
    given_.push_back(option);
    if (is_flag(*option)) {
      if (attached != nullptr) note_mistake(name + " takes no value");
    } else if (attached == nullptr && ++at_ >= words_.size()) {
      note_mistake(name + " needs a value: " +
                   (type_text(*option).empty() ? "TEXT" : type_text(*option)));
    }
  }

  void read_long(const std::string& word) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string value =
        equals == std::string::npos ? "" : word.substr(equals + 1);
    take(command_.get_option_no_throw(name), name,
         equals == std::string::npos ? nullptr : &value);
  }

  // "-n", "-n4", or flags: "-ab".
  void read_short(const std::string& word) {
    for (size_t i = 1; i < word.size(); ++i) {
      const std::string name = std::string("-") + word[i];
      const CLI::Option* option = command_.get_option_no_throw(name);
      if (option == nullptr) return unknown_.push_back(word);
      const std::string rest = word.substr(i + 1);
      if (is_flag(*option)) {
        take(option, name, nullptr);
        continue;
      }
      return take(option, name, rest.empty() ? nullptr : &rest);
    }
  }

  void note_mistake(const std::string& text) {
    if (mistake_.empty()) mistake_ = text;
  }

  std::string meant(const std::string& name) const {
    const std::string near = nearest(name, option_names(command_));
    if (near.empty()) return "";
    return shown_name(*command_.get_option_no_throw(near));
  }

  // "run and chat": the commands that have this option.
  std::string owners(const std::string& name) const {
    std::vector<std::string> owners;
    for (const CLI::App* command :
         program_.get_subcommands([](const CLI::App*) { return true; })) {
      if (command->get_option_no_throw(name) != nullptr) {
        owners.push_back(command->get_name());
      }
    }
    return joined(owners);
  }

  void check_unknown() const {
    if (unknown_.empty()) return;
    const std::string of = " of runcible " + command_.get_name();
    if (unknown_.size() == 1) {
      const std::string& name = unknown_.front();
      std::string text = "unknown option " + name + of;
      const std::string near = meant(name);
      const std::string others = owners(name);
      if (!near.empty()) {
        text += "; did you mean " + near + "?";
      } else if (!others.empty()) {
        text += "; it is one of runcible " + others;
      }
      refuse(text + see_help(command_));
    }
    std::string text = "unknown options" + of + ": ";
    for (size_t i = 0; i < unknown_.size(); ++i) {
      const std::string near = meant(unknown_[i]);
      text += (i == 0 ? "" : ", ") + unknown_[i] +
              (near.empty() ? "" : " (did you mean " + near + "?)");
    }
    refuse(text + see_help(command_));
  }

  size_t count(const CLI::Option* option) const {
    return static_cast<size_t>(
        std::count(given_.begin(), given_.end(), option));
  }

  void check_counts() const {
    for (const CLI::Option* option : given_) {
      if (count(option) > 1 && !takes_many(*option)) {
        refuse(shown_name(*option) + " is given more than once; give it once" +
               see_help(command_));
      }
    }
  }

  // Those that stand for themselves, such as MODEL.
  std::vector<const CLI::Option*> positionals() const {
    return command_.get_options(
        [](const CLI::Option* option) { return option->get_positional(); });
  }

  void check_values() const {
    size_t room = 0;
    std::string names;
    for (const CLI::Option* option : positionals()) {
      if (takes_many(*option)) return;
      room += count(option) == 0 ? 1 : 0;
      names += (names.empty() ? "" : " ") + option->get_name(true);
    }
    if (values_.size() <= room) return;
    refuse("unexpected argument \"" + values_[room] + "\": runcible " +
           command_.get_name() + " takes " +
           (names.empty() ? "none" : names + " and no more") +
           "; a text of several words needs quotes" + see_help(command_));
  }

  void check_companions() const {
    for (const CLI::Option* option : given_) {
      for (const CLI::Option* other : option->get_excludes()) {
        if (count(other) == 0) continue;
        refuse(shown_name(*option) + " and " + shown_name(*other) +
               " cannot be given together; leave one of them out");
      }
      for (const CLI::Option* other : option->get_needs()) {
        if (count(other) > 0) continue;
        refuse(shown_name(*option) + " works with " + shown_name(*other) +
               " only; give that too, or neither");
      }
    }
  }

  // The arguments that stand by themselves are given, too, in their order.
  void give_arguments() {
    size_t left = values_.size();
    for (const CLI::Option* option : positionals()) {
      if (left == 0 || count(option) > 0) continue;
      --left;
      given_.push_back(option);
    }
  }

  void check_required() const {
    for (const CLI::Option* option : command_.get_options()) {
      if (count(option) > 0 || !option->get_required()) continue;
      const bool both =
          option->get_positional() && !option->get_lnames().empty();
      refuse("no " +
             (option->get_positional() ? option->get_name(true)
                                       : shown_name(*option)) +
             " is given: " + option->get_description() +
             (both ? "; by itself, or behind " + option->get_name() : "") +
             see_help(command_));
    }
  }

  const CLI::App& program_;
  const CLI::App& command_;
  const std::vector<std::string> words_;
  size_t at_ = 0;
  std::vector<const CLI::Option*> given_;
  std::vector<std::string> values_;
  std::vector<std::string> unknown_;
  std::string mistake_;
  std::optional<std::string> help_;
};

// A word in the place of a command that is none.
[[noreturn]] void refuse_command(const CLI::App& program,
                                 const std::string& word) {
  const bool is_option = word.rfind('-', 0) == 0;
  std::vector<std::string> names = help_topics(program);
  if (is_option) names = {"--help", "--version"};
  const std::string text = is_option ? "unknown option " + word + " of runcible"
                                     : "there is no command \"" + word + "\"";
  const std::string meant = did_you_mean(word, names);
  std::error_code error;
  if (!meant.empty()) refuse(text + meant + " (see runcible --help)");
  if (is_option) {
    refuse(text +
           "; the options of a command come behind it (see runcible "
           "--help)");
  }
  if (!word.empty() && std::filesystem::exists(word, error)) {
    refuse(text + "; runcible run " + word + " runs a model");
  }
  refuse(text + "; the commands are " + command_names(program) +
         " (see runcible --help)");
}

}  // namespace

std::optional<std::string> check_command_line(const CLI::App& program, int argc,
                                              char** argv) {
  if (argc < 2) {
    refuse("no command is given; the commands are " + command_names(program) +
           " (see runcible --help)");
  }
  const std::string word = argv[1];
  if (word == "--version") return std::nullopt;
  if (word == "--help" || word == "-h") {
    return help_text(program, argc > 2 ? argv[2] : "");
  }
  const CLI::App* command = find_command(program, word);
  if (command == nullptr) refuse_command(program, word);
  set_current_command(command);
  GivenWords words(program, *command, {argv + 2, argv + argc});
  words.read();
  if (words.help()) {
    return help_text(program, words.help()->empty() ? word : *words.help());
  }
  words.check();
  return std::nullopt;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
    for (const std::string& name : option->get_snames()) {
      names.push_back("-" + name);
    }
  }
  return names;
}

std::string shown_name(const CLI::Option& option) {
  if (!option.get_lnames().empty()) return "--" + option.get_lnames().front();
  if (!option.get_snames().empty()) return "-" + option.get_snames().front();
  return option.get_name(true);
}

}  // namespace cli
