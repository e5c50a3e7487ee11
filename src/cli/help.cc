// What the command says about itself.
#include "help.h"

#include "terminal.h"

namespace cli {
namespace {

// nullptr: none of that name.
const CLI::App* find_command(const CLI::App& program, const std::string& name) {
  const auto found = program.get_subcommands(
      [&](const CLI::App* command) { return command->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

constexpr char kExitCodeTopic[] = "exit-codes";

std::string list_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

std::string exit_codes_text() {
  std::string text = "Exit codes:\n";
  for (const ExitCodeMeaning& entry : kExitCodes) {
    const std::string code = std::to_string(entry.code);
    text +=
        std::string(5 - code.size(), ' ') + code + "  " + entry.meaning + "\n";
  }
  return text;
}

std::string help_text(const CLI::App& program, const std::string& topic) {
  if (topic.empty()) {
    // App::help would be that of this very command.
    return program.get_formatter()->make_help(&program, program.get_name(),
                                              CLI::AppFormatMode::Normal);
  }
  if (topic == kExitCodeTopic) return exit_codes_text();
  const CLI::App* command = find_command(program, topic);
  if (command == nullptr) {
    throw Failure{kUsage, "there is no help on \"" + topic +
                              "\", but on: " + list_text(help_topics(program))};
  }
  return command->help(program.get_name());
}

}  // namespace

std::string command_names(const CLI::App& program) {
  std::vector<std::string> names = help_topics(program);
  names.pop_back();
  return list_text(names);
}

std::vector<std::string> help_topics(const CLI::App& program) {
  std::vector<std::string> topics;
  for (const CLI::App* command :
       program.get_subcommands([](const CLI::App*) { return true; })) {
    topics.push_back(command->get_name());
  }
  topics.emplace_back(kExitCodeTopic);
  return topics;
}

void check_command(const CLI::App& program, int argc, char** argv) {
  if (argc < 2) {
    throw Failure{kUsage, "no command is given; the commands are " +
                              command_names(program) +
                              " (see runcible --help)"};
  }
  const std::string word = argv[1];
  if (word.empty() || word[0] != '-') {
    if (find_command(program, word) != nullptr) return;
    throw Failure{kUsage, "there is no command \"" + word +
                              "\"; the commands are " + command_names(program) +
                              " (see runcible --help)"};
  }
}

void add_help(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "help", "Explains a command, or with exit-codes those");
  auto topic = std::make_shared<std::string>();
  command
      ->add_option("TOPIC", *topic,
                   std::string("a command, or ") + kExitCodeTopic)
      ->type_name("");
  command->callback([&program, topic] { print(help_text(program, *topic)); });
  program.footer("runcible help COMMAND says more about each; runcible help " +
                 std::string(kExitCodeTopic) + " the exit codes.");
}

}  // namespace cli
