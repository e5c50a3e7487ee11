// The options of the command, as its --help shows them.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "cli/command.h"

namespace rc::test {

struct HelpOption {
  std::vector<std::string> names;  // "-n", "--max-tokens", "--tokens"
  std::string type;                // "NUMBER"; "" for a flag
  std::string meaning;

  // The first long name.
  std::string name() const {
    for (const std::string& each : names) {
      if (each.rfind("--", 0) == 0) return each;
    }
    return names.empty() ? "" : names.front();
  }
  bool is_argument() const { return names.empty() || names[0][0] != '-'; }
};

inline std::vector<std::string> command_words() {
  return {"run",        "chat",     "devices",    "explain",  "calibrate",
          "pull",       "models",   "inspect",    "verify",   "plan",
          "convert",    "quantize", "importance", "evaluate", "bench",
          "embed",      "rerank",   "tokenize",   "template", "config",
          "completion", "help"};
}

// The names behind "also" in a meaning: "also -m, --model FILE".
inline std::vector<std::string> other_names(const std::string& meaning) {
  std::vector<std::string> names;
  const size_t also = meaning.rfind("also -");
  if (also == std::string::npos) return names;
  std::istringstream words(meaning.substr(also + 5));
  for (std::string word; words >> word && word[0] == '-';) {
    if (word.back() == ',') word.pop_back();
    names.push_back(word);
  }
  return names;
}

// Arguments such as MODEL are options whose first name is no option's.
inline std::vector<HelpOption> help_options(const std::string& command) {
  std::istringstream lines(run({command, "--help"}).out);
  std::vector<HelpOption> options;
  for (std::string line; std::getline(lines, line);) {
    if (line.size() < 3 || line.rfind("  ", 0) != 0) continue;
    if (line[2] == ' ') {
      if (!options.empty()) {
        std::string& meaning = options.back().meaning;
        meaning += (meaning.empty() ? "" : " ") +
                   line.substr(line.find_first_not_of(' '));
      }
      continue;
    }
    HelpOption option;
    const size_t gap = line.find("  ", 2);
    std::istringstream head(line.substr(2, gap - 2));
    for (std::string word; head >> word;) {
      if (word.back() == ',') word.pop_back();
      if (word[0] == '-' || option.names.empty()) {
        option.names.push_back(word);
      } else {
        option.type = word;
      }
    }
    if (gap != std::string::npos) {
      option.meaning = line.substr(line.find_first_not_of(' ', gap));
    }
    options.push_back(option);
  }
  for (HelpOption& option : options) {
    for (const std::string& name : other_names(option.meaning)) {
      option.names.push_back(name);
    }
  }
  return options;
}

// Words for the arguments that a command needs, of files that are not there.
inline std::vector<std::string> needed_arguments(const std::string& command) {
  std::vector<std::string> words;
  std::istringstream usage(run({command, "--help"}).out);
  std::string word;
  usage >> word >> word >> word;  // "Usage: runcible COMMAND"
  while (usage >> word && word != "[OPTIONS]") {
    // Without one, the model that comes with Runcible would run.
    if (word == "[MODEL]") words.emplace_back("/no/such/MODEL");
    if (word[0] == '[') continue;
    words.push_back(word == "TYPE"     ? "Q8_0"
                    : word == "OUTPUT" ? "/no/such/folder/out.gguf"
                    : word == "SHELL"  ? "bash"
                                       : "/no/such/" + word);
  }
  return words;
}

}  // namespace rc::test
