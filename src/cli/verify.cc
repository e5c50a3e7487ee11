#include "commands.h"
#include "terminal.h"

namespace cli {

void add_verify(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("verify", "Reads a model file and checks it all");
  auto path = std::make_shared<std::string>();
  add_model(*command, *path);
  command->callback([path] {
    need_model(*path);
    check(rc_model_verify(path->c_str()));
    print(*path + ": sound\n");
  });
}

}  // namespace cli
