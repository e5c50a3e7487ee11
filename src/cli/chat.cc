#include "sampling_options.h"
#include "talk.h"

namespace cli {

void add_chat(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "chat", "Converses with a model, on a terminal or line by line");
  auto options = std::make_shared<TalkOptions>();
  options->model.path = "builtin:fabulist";
  begin_group(*command, "Conversation");
  command->add_option("--system", options->system,
                      "instructions for the model, before all messages");
  add_max_tokens(*command, options->generation);
  options->chat.add_tools(*command);
  options->chat.add_template(*command);
  command->add_flag("--speed", options->speed,
                    "print tokens and speed after each answer");
  add_sampling_options(*command, options->generation);
  options->model.add_to(*command);
  command->callback([options] {
    options->chat.read();
    LineReader lines;
    Talk(*options, &lines).run();
  });
}

}  // namespace cli
