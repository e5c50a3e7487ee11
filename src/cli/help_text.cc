#include "help_text.h"

#include <algorithm>
#include <sstream>

#include "number.h"
#include "one_of.h"
#include "type_choice.h"

namespace cli {
namespace {

constexpr size_t kWidth = 80;
// Where the explanation of a name begins.
constexpr size_t kColumn = 27;
constexpr char kOtherGroup[] = "Options";

// A name, and behind it or below it what it means.
std::string entry(const std::string& name, const std::string& meaning,
                  size_t column = kColumn) {
  const std::string text = wrapped(meaning, column);
  std::string line = "  " + name;
  if (line.size() + 2 > column) return line + "\n" + text;
  line.resize(column, ' ');
  return line + text.substr(std::min(column, text.size()));
}

// "-n, --max-tokens NUMBER".
std::string names_text(const CLI::Option& option) {
  std::string text;
  for (const std::string& name : option.get_snames()) {
    text += (text.empty() ? "-" : ", -") + name;
  }
  if (!option.get_lnames().empty()) {
    text += (text.empty() ? "--" : ", --") + option.get_lnames().front();
  }
  const std::string type = type_text(option);
  return type.empty() ? text : text + " " + type;
}

// The description of an option, its default, and its other names.
std::string meaning_text(const CLI::Option& option) {
  std::string text = option.get_description();
  if (!option.get_default_str().empty()) {
    std::string value = option.get_default_str();
    std::erase_if(value, [](char c) { return c == '[' || c == ']'; });
    text += "; default: " + value;
  }
  const std::vector<std::string>& names = option.get_lnames();
  for (size_t i = 1; i < names.size(); ++i) {
    text += (i == 1 ? "; also --" : ", --") + names[i];
  }
  return text;
}

// "MODEL", "[FILE]", "[SOURCE...]".
std::string argument_text(const CLI::Option& option) {
  std::string text = option.get_name(true);
  if (option.get_expected_max() > 1) text += "...";
  return option.get_required() ? text : "[" + text + "]";
}

}  // namespace

std::string wrapped(const std::string& text, size_t margin) {
  const std::string begin(margin, ' ');
  std::string lines, line = begin;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (line.size() > margin && line.size() + 1 + word.size() > kWidth) {
      lines += line + "\n";
      line = begin;
    }
    line += (line.size() > margin ? " " : "") + word;
  }
  return lines + line + "\n";
}

std::string type_text(const CLI::Option& option) {
  if (option.get_expected_max() == 0) return "";
  const std::string type = option.get_type_name();
  const std::string name = type.substr(0, type.find(':'));
  const std::vector<std::string> choices = choices_of(option);
  if (choices.empty() || name == kTypeName) return name;
  return joined(choices, "|");
}

std::string command_help(const CLI::App& command) {
  std::string usage = "Usage: runcible " + command.get_name();
  std::string arguments;
  const std::vector<const CLI::Option*> options =
      command.get_options([](const CLI::Option*) { return true; });
  std::vector<std::string> groups;
  for (const CLI::Option* option : options) {
    if (option->get_positional()) {
      usage += " " + argument_text(*option);
      const bool named = option->nonpositional();
      arguments += entry(option->get_name(true),
                         meaning_text(*option) +
                             (named ? "; also " + names_text(*option) : ""));
    }
    const std::string& group = option->get_group();
    if (option->nonpositional() && group != kOtherGroup &&
        std::find(groups.begin(), groups.end(), group) == groups.end()) {
      groups.push_back(group);
    }
  }
  groups.emplace_back(kOtherGroup);
  std::string text =
      usage + " [OPTIONS]\n\n" + wrapped(command.get_description() + ".", 0);
  if (!arguments.empty()) text += "\nArguments:\n" + arguments;
  for (const std::string& group : groups) {
    text += "\n" +
            (group == kOtherGroup && groups.size() > 1
                 ? std::string("Other options")
                 : group) +
            ":\n";
    for (const CLI::Option* option : options) {
      if (option->get_group() != group || option->get_positional() ||
          !option->nonpositional()) {
        continue;
      }
      text += entry(names_text(*option), meaning_text(*option));
    }
  }
  return text;
}

std::string program_help(const CLI::App& program, const std::string& footer) {
  constexpr size_t kCommandColumn = 15;
  std::string text = "Usage: runcible COMMAND [MODEL] [OPTIONS]\n\n" +
                     wrapped(program.get_description(), 0);
  std::string group;
  for (const CLI::App* command :
       program.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group() != group) {
      group = command->get_group();
      text += "\n" + group + ":\n";
    }
    text +=
        entry(command->get_name(), command->get_description(), kCommandColumn);
  }
  text += "\nOptions:\n";
  text += entry("-h, --help", "explain a command; by itself, list them",
                kCommandColumn);
  text += entry("--version", "print the version and how the library was built",
                kCommandColumn);
  return text + "\n" + wrapped(footer, 0);
}

}  // namespace cli
