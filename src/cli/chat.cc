#include "sampling_options.h"
#include "talk.h"

namespace cli {

void add_chat(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "chat", "A conversation with a model, in a terminal or line by line");
  auto options = std::make_shared<TalkOptions>();
  options->model.path = "builtin:fabulist";
  options->model.add_to(*command);
  options->chat.add_to(*command);
  command->add_option("--system", options->system,
                      "what the model is told before the first question");
  add_sampling_options(*command, options->generation);
  command->add_flag("--speed", options->speed,
                    "tell tokens and speed after each answer");
  command->callback([options] {
    options->chat.read();
    LineReader lines;
    Talk(*options, &lines).run();
  });
}

}  // namespace cli
