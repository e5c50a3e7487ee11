#include "help.h"

#include "help_text.h"
#include "nearest.h"
#include "terminal.h"
#include "type_choice.h"

namespace cli {
namespace {

constexpr char kExitCodeTopic[] = "exit-codes";
constexpr char kFooter[] =
    "runcible help COMMAND explains a command, runcible help types lists the "
    "types of weights, and runcible help exit-codes the exit codes.";

std::string exit_codes_text() {
  std::string text = "Exit codes:\n";
  for (const ExitCodeMeaning& entry : kExitCodes) {
    const std::string code = std::to_string(entry.code);
    text +=
        std::string(5 - code.size(), ' ') + code + "  " + entry.meaning + "\n";
  }
  return text;
}

std::string types_text() {
  return "Types of weights, in upper or lower case:\n\n" +
         wrapped(joined(type_names()), 2) + "\n" +
         wrapped(
             "Most are one type for all matrices, such as Q8_0. Mixes, such as "
             "Q4_K_M, Q2_K and those of IQ1 to IQ3, give more bits to the "
             "matrices that need them. IQ3_XS, IQ3_XXS and the mixes of IQ1 "
             "and IQ2 need an importance (see runcible help importance).",
             0);
}

}  // namespace

const CLI::App* find_command(const CLI::App& program, const std::string& name) {
  const auto found = program.get_subcommands(
      [&](const CLI::App* command) { return command->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

std::string help_text(const CLI::App& program, const std::string& topic) {
  if (topic.empty()) return program_help(program, kFooter);
  if (topic == kExitCodeTopic) return exit_codes_text();
  if (topic == kTypesTopic) return types_text();
  const CLI::App* command = find_command(program, topic);
  if (command == nullptr) {
    const std::vector<std::string> topics = help_topics(program);
    const std::string meant = did_you_mean(topic, topics);
    throw Failure{kUsage,
                  "there is no help on \"" + topic + "\"" +
                      (meant.empty() ? ", but on: " + joined(topics) : meant)};
  }
  return command_help(*command);
}

std::string command_names(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command :
       program.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return joined(names);
}

std::vector<std::string> help_topics(const CLI::App& program) {
  std::vector<std::string> topics;
  for (const CLI::App* command :
       program.get_subcommands([](const CLI::App*) { return true; })) {
    topics.push_back(command->get_name());
  }
  topics.emplace_back(kTypesTopic);
  topics.emplace_back(kExitCodeTopic);
  return topics;
}

void add_help(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "help", "Explains a command, the types of weights or the exit codes");
  auto topic = std::make_shared<std::string>();
  command
      ->add_option("TOPIC", *topic,
                   std::string("a command, ") + kTypesTopic + ", or " +
                       kExitCodeTopic + "; without one, the list of commands")
      ->type_name("");
  command->callback([&program, topic] { print(help_text(program, *topic)); });
}

}  // namespace cli
