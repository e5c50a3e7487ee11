// Measures the devices, so that each op of tensors finds the one for it.
#include <nlohmann/json.hpp>

#include "commands.h"
#include "number.h"
#include "terminal.h"

namespace cli {
namespace {

using Json = nlohmann::ordered_json;

// "12.3 us"; "unknown" for null.
std::string quantity(const Json& value, double unit, const char* name) {
  if (value.is_null()) return "unknown";
  return fixed_text(value.get<double>() / unit, 1) + " " + name;
}

void print_device(const Json& device) {
  print(Style::kStrong, device.at("id").get<std::string>());
  if (!device.at("failure").is_null()) {
    print(Style::kWarning, ": not measured");
    print(": " + device.at("failure").get<std::string>() + "\n");
    return;
  }
  const auto line = [&](const char* label, const std::string& text) {
    print(std::string("    ") + label + text + "\n");
  };
  print("\n");
  line("smallest op  ", quantity(device.at("launch_seconds"), 1e-6, "us"));
  line("memory       ", quantity(device.at("bytes_per_second"), 1e9, "GB/s"));
  line("to it        ",
       quantity(device.at("upload_bytes_per_second"), 1e9, "GB/s"));
  line("from it      ",
       quantity(device.at("download_bytes_per_second"), 1e9, "GB/s"));
  const auto rate = [&](const char* kind) {
    return quantity(
        device.at(std::string("multiplications_per_second_") + kind), 1e9, "");
  };
  line("10^9 multiplications a second  ", "F32 " + rate("f32") + ", F16 " +
                                              rate("f16") + ", Q4_K " +
                                              rate("blocks"));
}

void calibrate(const std::string& backend, int32_t threads, bool json) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  if (threads > 0) options.threads = threads;
  Returned<char> text;
  {
    const InterruptWatch watch;
    ProgressBar bar("measuring");
    const auto progress = [](void* user, double fraction) -> int32_t {
      static_cast<ProgressBar*>(user)->show(fraction);
      return interrupted() ? 1 : 0;
    };
    char* found = nullptr;
    check(rc_calibrate(backend.c_str(), &options, progress, &bar, &found));
    text.reset(found);
  }
  if (json) return print(std::string(text.get()) + "\n");
  const Json found = Json::parse(text.get());
  for (const Json& device : found.at("devices")) print_device(device);
}

}  // namespace

void add_calibrate(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "calibrate",
      "Measures the devices, so that each op of tensors finds the one for it");
  auto backend = std::make_shared<std::string>();
  auto threads = std::make_shared<int32_t>(0);
  auto json = std::make_shared<bool>(false);
  command
      ->add_option("--backend", *backend,
                   "the devices, as a chain: auto, cpu, "
                   "cuda,vulkan:0,cpu; software devices are measured if "
                   "they are named; default: $RUNCIBLE_BACKEND, or auto")
      ->type_name("CHAIN");
  limit<int32_t>(
      command->add_option("-t,--threads", *threads,
                          "threads of a CPU device; default: "
                          "$RUNCIBLE_THREADS, or as many as there are "
                          "processors"),
      {1, 1024});
  command->add_flag("--json", *json, "print JSON, with all that was measured");
  command->callback([=] { calibrate(*backend, *threads, *json); });
}

}  // namespace cli
