#include "commands.h"
#include "terminal.h"

namespace cli {

void add_verify(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("verify", "Reads a model file and checks it all");
  auto path = std::make_shared<std::string>();
  command->add_option("MODEL", *path, kModelHelp)->required();
  command->callback([path] {
    check(rc_model_verify(path->c_str()));
    print(*path + ": sound\n");
  });
}

}  // namespace cli
