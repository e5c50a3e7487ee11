#include <cstdlib>
#include <string>

#include "commands.h"
#include "terminal.h"
#include "type_choice.h"

namespace cli {
namespace {

struct Wish {
  std::string from, to, type;
};

// What the file that is written cannot say, unless messages go elsewhere.
void show_warnings() {
  if (std::getenv("RUNCIBLE_LOG") != nullptr) return;
  rc_log_set(
      [](void*, rc_log_level, const char* message) {
        note(std::string("warning: ") + message);
      },
      nullptr, RC_LOG_WARNING);
}

void convert(const Wish& wish) {
  show_warnings();
  ProgressBar bar("converting");
  const InterruptWatch watch;
  check(rc_model_convert(
      wish.from.c_str(), wish.to.c_str(),
      wish.type.empty() ? nullptr : wish.type.c_str(),
      [](void* user, double fraction) -> int32_t {
        static_cast<ProgressBar*>(user)->show(fraction);
        return interrupted() ? 1 : 0;
      },
      &bar));
}

}  // namespace

void add_convert(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "convert", "Writes a model, such as a folder, to a GGUF file");
  auto wish = std::make_shared<Wish>();
  add_model(*command, wish->from);
  takes_file(command->add_option("-o,--output", wish->to, "the file to write"))
      ->required();
  takes_type(command->add_option(
      "--type", wish->type, "what matrices become; default: what they are"));
  command->callback([wish] {
    need_model(wish->from);
    convert(*wish);
  });
}

}  // namespace cli
