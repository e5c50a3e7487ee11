#include <nlohmann/json.hpp>

#include "commands.h"
#include "terminal.h"

namespace cli {
namespace {

using Json = nlohmann::ordered_json;

const char* kind_name(rc_device_kind kind) {
  switch (kind) {
    case RC_DEVICE_CPU:
      return "cpu";
    case RC_DEVICE_GPU_DISCRETE:
      return "discrete GPU";
    case RC_DEVICE_GPU_INTEGRATED:
      return "integrated GPU";
    case RC_DEVICE_ACCELERATOR:
      return "accelerator";
    case RC_DEVICE_SOFTWARE:
      return "software";
    default:
      return "other";
  }
}

Json to_json(const rc_device_report& device) {
  if (device.index < 0) {
    return {{"backend", device.backend},
            {"description", device.description},
            {"available", false},
            {"reason", device.reason}};
  }
  return {{"backend", device.backend},
          {"description", device.description},
          {"available", true},
          {"id", device.id},
          {"name", device.name},
          {"kind", kind_name(device.kind)},
          {"total_memory", device.total_memory},
          {"free_memory", device.free_memory},
          {"unified_memory", device.unified_memory != 0},
          {"cores", device.cores},
          {"features", device.features},
          {"driver", device.driver},
          {"physical_id", device.physical_id}};
}

void print_text(const rc_device_report& device) {
  if (device.index < 0) {
    print(Style::kWarning, std::string(device.backend) + ": not available");
    print(std::string(": ") + device.reason + "\n");
    return;
  }
  print(Style::kStrong, device.id);
  std::string text =
      std::string(": ") + device.name + " (" + kind_name(device.kind) + ")\n";
  const auto add = [&](const char* label, const std::string& value) {
    if (!value.empty()) text += std::string("    ") + label + value + "\n";
  };
  add("backend   ", device.description);
  if (device.cores > 0) add("cores     ", std::to_string(device.cores));
  if (device.total_memory > 0) {
    add("memory    ", bytes_text(device.total_memory) +
                          (device.free_memory > 0
                               ? ", " + bytes_text(device.free_memory) + " free"
                               : std::string()));
  }
  add("features  ", device.features);
  add("driver    ", device.driver);
  print(text);
}

}  // namespace

void add_devices(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "devices", "Lists what can compute here, and what cannot and why");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "print JSON");
  command->callback([json] {
    const DeviceList list = make<DeviceList>(rc_discover);
    const char* automatic = rc_device_list_automatic(list.get());
    Json devices = Json::array();
    for (size_t i = 0; i < rc_device_list_count(list.get()); ++i) {
      rc_device_report device = RC_DEVICE_REPORT_INIT;
      check(rc_device_list_get(list.get(), i, &device));
      if (*json) {
        devices.push_back(to_json(device));
      } else {
        print_text(device);
      }
    }
    if (*json) {
      print(json_text(Json{{"devices", devices}, {"auto", automatic}}));
    } else {
      print("auto: ");
      print(Style::kStrong,
            *automatic == '\0' ? "nothing to choose" : automatic);
      print("\n");
    }
  });
}

}  // namespace cli
