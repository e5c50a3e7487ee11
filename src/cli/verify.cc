#include <nlohmann/json.hpp>

#include "commands.h"
#include "terminal.h"

namespace cli {

void add_verify(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("verify", "Reads a model file and checks it all");
  auto path = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  add_model(*command, *path);
  command->add_flag("--json", *json, "print JSON");
  command->callback([path, json] {
    check(rc_model_verify(path->c_str()));
    if (*json) {
      return print(
          json_text(nlohmann::ordered_json{{"file", *path}, {"sound", true}}));
    }
    print(*path + ": sound\n");
  });
}

}  // namespace cli
