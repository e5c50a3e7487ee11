// Which columns of a model's weights matter, as a file for quantizing.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "number.h"
#include "output_file.h"
#include "terminal.h"

namespace cli {
namespace {

constexpr int64_t kUsualImportanceWindow = 512;

struct ImportanceWish {
  ModelChoice model;
  std::string text, to;
  int64_t windows = 0;
  bool force = false;
  bool json = false;
};

rc_importance_report measure_importance(const ImportanceWish& wish) {
  const Backend backend = wish.model.open_backend();
  rc_model_options load = wish.model.options();
  if (load.context_length == 0) {
    load.context_length =
        std::min(kUsualImportanceWindow, wish.model.trained_context());
  }
  load.prefix_cache = 0;
  const Model model = wish.model.load(backend, load);
  rc_importance_options options = RC_IMPORTANCE_OPTIONS_INIT;
  options.text_path = wish.text.c_str();
  options.context = wish.model.context;
  options.windows = wish.windows;
  rc_importance_report report = RC_IMPORTANCE_REPORT_INIT;
  ProgressBar bar("measuring");
  const InterruptWatch watch;
  options.progress = [](void* user, double fraction) -> int32_t {
    static_cast<ProgressBar*>(user)->show(fraction);
    return interrupted() ? 1 : 0;
  };
  options.progress_user = &bar;
  check(rc_model_importance(model.get(), wish.to.c_str(), &options, &report));
  return report;
}

}  // namespace

void add_importance(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "importance",
      "Measures which columns of the weights a text uses, for quantizing");
  auto wish = std::make_shared<ImportanceWish>();
  wish->model.path.clear();
  wish->model.add_to(*command);
  command->get_option("--context-length")
      ->description(
          "tokens of a window; default: 512, or the model's context if that is "
          "less (a number from 4)");
  begin_group(*command, "Measurement");
  takes_file(
      command->add_option("TEXT", wish->text, "the text, a file of UTF-8"))
      ->required();
  takes_file(command->add_option("-o,--output", wish->to,
                                 "the file to write (GGUF, type imatrix)"))
      ->required();
  add_force(*command, wish->force);
  limit<int64_t>(command->add_option("--windows", wish->windows,
                                     "the most windows of the text; default: "
                                     "all"),
                 {1});
  command->add_flag("--json", wish->json, "print JSON");
  end_group(*command);
  command->callback([wish] {
    check_output(wish->to, wish->force, Writing::kReplaces,
                 {wish->model.path, wish->text});
    const rc_importance_report report = measure_importance(*wish);
    if (wish->json) {
      return print(json_text(nlohmann::ordered_json{
          {"output", wish->to},
          {"tensors", report.tensors},
          {"windows", report.windows},
          {"context", report.context},
          {"tokens", report.tokens},
          {"tokens_per_second", report.tokens_per_second}}));
    }
    print(std::to_string(report.tensors) + " tensors, " +
          std::to_string(report.windows) + " windows of " +
          std::to_string(report.context) + " tokens, " +
          fixed_text(report.tokens_per_second, 1) + " tokens/s\n");
  });
}

}  // namespace cli
