#include <nlohmann/json.hpp>

#include "commands.h"
#include "terminal.h"

namespace cli {

void add_plan(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "plan", "Tells what a model would take of device memory");
  auto choice = std::make_shared<ModelChoice>();
  auto json = std::make_shared<bool>(false);
  choice->add_to(*command);
  command->add_flag("--json", *json, "print JSON");
  command->callback([choice, json] {
    const Backend backend = choice->open_backend();
    const rc_model_options options = choice->options();
    rc_model_plan_report plan = RC_MODEL_PLAN_REPORT_INIT;
    check(rc_model_plan(choice->path.c_str(), &options, backend.get(), &plan));
    choice->note_default();
    rc_device_report device = RC_DEVICE_REPORT_INIT;
    check(rc_backend_device(backend.get(), &device));
    if (*json) {
      print(json_text(
          nlohmann::ordered_json{{"device", device.id},
                                 {"weights", plan.weights},
                                 {"cache", plan.cache},
                                 {"scratch", plan.scratch},
                                 {"total", plan.total},
                                 {"available", plan.available},
                                 {"fits", plan.fits != 0},
                                 {"context_length", plan.context_length},
                                 {"cache_tokens", plan.cache_tokens},
                                 {"largest_context", plan.largest_context}}));
      return;
    }
    print(std::string("device           ") + device.id + " (" + device.name +
          ")\ncontext          " + std::to_string(plan.context_length) +
          " tokens\nweights          " + bytes_text(plan.weights) +
          "\nKV cache         " + bytes_text(plan.cache) + " for " +
          std::to_string(plan.cache_tokens) + " tokens\nactivations      " +
          bytes_text(plan.scratch) + "\ntotal            " +
          bytes_text(plan.total) + "\navailable        " +
          (plan.available == 0 ? "unknown" : bytes_text(plan.available)) +
          "\nfits             " + (plan.fits != 0 ? "yes" : "no") +
          "\nlargest context  " + std::to_string(plan.largest_context) +
          " tokens\n");
  });
}

}  // namespace cli
