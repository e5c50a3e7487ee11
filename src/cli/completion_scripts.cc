#include <algorithm>

#include "completion.h"
#include "one_of.h"

namespace cli {
namespace {

using Value = Completed::Value;

// With a backslash before each of these characters.
std::string escaped(const std::string& text, const char* characters) {
  std::string out;
  for (const char c : text) {
    if (std::string_view(characters).find(c) != std::string_view::npos) {
      out += '\\';
    }
    out += c;
  }
  return out;
}

// Within single quotes; shells have their own ways to write one there.
std::string quoted(const std::string& text, const char* quote) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += quote;
    } else {
      out += c;
    }
  }
  return out + "'";
}

// Completes a file, or one of some words, in bash.
std::string bash_value(const Completed& value) {
  const std::string from =
      value.value == Value::kFile
          ? "-f"
          : "-W " + quoted(joined(value.choices, " "), "'\\''");
  return "mapfile -t COMPREPLY < <(compgen " + from + " -- \"$word\")";
}

// Completes a value in zsh, after the name or description of an option.
std::string zsh_value(const Completed& value) {
  switch (value.value) {
    case Value::kFile:
      return ":file:_files";
    case Value::kChoice:
      return ":value:(" + joined(value.choices, " ") + ")";
    case Value::kText:
      return ":value: ";
    case Value::kNone:
      break;
  }
  return "";
}

// Those of an option, or of what stands alone.
std::string fish_value(const Completed& value) {
  switch (value.value) {
    case Value::kFile:
      return " -r -F";
    case Value::kChoice:
      return " -x -a " + quoted(joined(value.choices, " "), "\\'");
    case Value::kText:
      return " -x";
    case Value::kNone:
      break;
  }
  return "";
}

}  // namespace

std::string bash_completion(const std::vector<CompletedCommand>& commands) {
  std::vector<std::string> names;
  for (const CompletedCommand& command : commands) {
    names.push_back(command.name);
  }
  std::string text =
      "# Completion of runcible for bash:\n"
      "#   source <(runcible completion bash)\n"
      "_runcible() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]}\n"
      "  local before=${COMP_WORDS[COMP_CWORD - 1]}\n"
      "  local options=\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    mapfile -t COMPREPLY < <(compgen -W '" +
      joined(names, " ") +
      " --help --version' -- \"$word\")\n"
      "    return\n"
      "  fi\n"
      "  case ${COMP_WORDS[1]} in\n";
  for (const CompletedCommand& command : commands) {
    std::vector<std::string> options;
    std::vector<std::string> any;  // those that take any text
    text += "  " + command.name + ")\n    case $before in\n";
    for (const Completed& option : command.options) {
      const std::vector<std::string>& names = option.names;
      options.insert(options.end(), names.begin(), names.end());
      if (option.value == Value::kNone) continue;
      if (option.value == Value::kText) {
        any.insert(any.end(), names.begin(), names.end());
        continue;
      }
      text += "    " + joined(names, " | ") + ")\n      " + bash_value(option) +
              "\n      return\n      ;;\n";
    }
    if (!any.empty()) text += "    " + joined(any, " | ") + ") return ;;\n";
    text += "    esac\n    options='" + joined(options, " ") + "'\n";
    if (!command.alone.empty()) {
      text += "    [[ $word == -* ]] || " + bash_value(command.alone.front()) +
              "\n";
    }
    text += "    ;;\n";
  }
  return text +
         "  esac\n"
         "  if [[ $word == -* ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _runcible runcible\n";
}

std::string zsh_completion(const std::vector<CompletedCommand>& commands) {
  std::string text =
      "#compdef runcible\n"
      "# Completion of runcible for zsh:\n"
      "#   source <(runcible completion zsh)\n"
      "_runcible() {\n"
      "  local -a commands=(\n";
  for (const CompletedCommand& command : commands) {
    text += "    " +
            quoted(escaped(command.name, ":") + ":" + command.description,
                   "'\\''") +
            "\n";
  }
  text +=
      "  )\n"
      "  if ((CURRENT == 2)); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case $command in\n";
  for (const CompletedCommand& command : commands) {
    text += "  " + command.name + ")\n    _arguments";
    for (const Completed& option : command.options) {
      const std::string rest = quoted(
          "[" + escaped(option.description, "[]:\\") + "]" + zsh_value(option),
          "'\\''");
      // One excludes the other names of the same.
      for (const std::string& name : option.names) {
        text +=
            " \\\n      '(" + joined(option.names, " ") + ")'" + name +
            (option.value != Value::kNone && name.rfind("--", 0) == 0 ? "="
                                                                      : "") +
            rest;
      }
    }
    for (const Completed& alone : command.alone) {
      text += " \\\n      " + quoted("1" + zsh_value(alone), "'\\''");
    }
    text += "\n    ;;\n";
  }
  return text +
         "  esac\n"
         "}\n"
         "if [[ $funcstack[1] == _runcible ]]; then\n"
         "  _runcible \"$@\"\n"
         "else\n"
         "  compdef _runcible runcible\n"
         "fi\n";
}

std::string fish_completion(const std::vector<CompletedCommand>& commands) {
  constexpr const char* kQuote = "\\'";
  std::string text =
      "# Completion of runcible for fish:\n"
      "#   runcible completion fish | source\n"
      "complete -c runcible -f\n"
      "complete -c runcible -n __fish_use_subcommand -l version\n";
  for (const CompletedCommand& command : commands) {
    text += "complete -c runcible -n __fish_use_subcommand -a " + command.name +
            " -d " + quoted(escaped(command.description, "\\"), kQuote) + "\n";
  }
  for (const CompletedCommand& command : commands) {
    const std::string begin =
        "complete -c runcible -n '__fish_seen_subcommand_from " + command.name +
        "'";
    for (const Completed& option : command.options) {
      text += begin;
      for (const std::string& name : option.names) {
        text += name.rfind("--", 0) == 0 ? " -l " + name.substr(2)
                                         : " -s " + name.substr(1);
      }
      text += fish_value(option) + " -d " +
              quoted(escaped(option.description, "\\"), kQuote) + "\n";
    }
    for (const Completed& alone : command.alone) {
      if (alone.value == Value::kFile) text += begin + " -F\n";
      if (alone.value == Value::kChoice) {
        text +=
            begin + " -a " + quoted(joined(alone.choices, " "), kQuote) + "\n";
      }
    }
  }
  return text;
}

}  // namespace cli
