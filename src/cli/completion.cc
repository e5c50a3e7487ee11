// The description of the command for shells.
#include "completion.h"

#include "help.h"
#include "one_of.h"
#include "terminal.h"

namespace cli {
namespace {

Completed completed(const CLI::Option& option) {
  using Value = Completed::Value;
  Completed made;
  for (const std::string& name : option.get_snames()) {
    made.names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    made.names.push_back("--" + name);
  }
  made.description = option.get_description();
  made.choices = choices_of(option);
  if (option.get_expected_max() == 0) {
    made.value = Value::kNone;
  } else if (!made.choices.empty()) {
    made.value = Value::kChoice;
  } else if (option.get_type_name().rfind(kFileType, 0) == 0) {
    made.value = Value::kFile;
  }
  return made;
}

}  // namespace

std::vector<CompletedCommand> completed_commands(const CLI::App& program) {
  std::vector<CompletedCommand> all;
  for (const CLI::App* command :
       program.get_subcommands([](const CLI::App*) { return true; })) {
    CompletedCommand made = {
        command->get_name(), command->get_description(), {}, {}};
    for (const CLI::Option* option : command->get_options()) {
      Completed each = completed(*option);
      if (option->get_positional() && made.alone.empty()) {
        made.alone.push_back(each);
        made.alone.back().names.clear();
      }
      if (!each.names.empty()) made.options.push_back(std::move(each));
    }
    if (made.name == "help") {
      made.alone.front().value = Completed::Value::kChoice;
      made.alone.front().choices = help_topics(program);
    }
    all.push_back(std::move(made));
  }
  return all;
}

void add_completion(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "completion", "Prints a script by which a shell completes this command");
  auto shell = std::make_shared<std::string>();
  one_of(command->add_option("SHELL", *shell, "bash, zsh or fish"),
         {"bash", "zsh", "fish"})
      ->type_name("")
      ->required();
  command->callback([&program, shell] {
    const auto commands = completed_commands(program);
    print(*shell == "bash"  ? bash_completion(commands)
          : *shell == "zsh" ? zsh_completion(commands)
                            : fish_completion(commands));
  });
}

}  // namespace cli
