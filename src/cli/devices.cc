#include <nlohmann/json.hpp>

#include <sstream>

#include "commands.h"
#include "node_words.h"
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

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
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
          {"fp16", device.fp16 != 0},
          {"bf16", device.bf16 != 0},
          {"fp64", device.fp64 != 0},
          {"int8_dot", device.int8_dot != 0},
          {"numa_nodes", device.numa_nodes},
          {"huge_pages", huge_pages_name(device.huge_pages)},
          {"features", device.features},
          {"driver", device.driver},
          {"physical_id", device.physical_id},
          {"reason", device.reason},
          {"quarantined", lines_of(device.quarantined)}};
}

// The kinds of arithmetic for which the device has instructions.
std::string arithmetic(const rc_device_report& device) {
  const std::pair<const char*, int32_t> kinds[] = {
      {"fp16", device.fp16},
      {"bf16", device.bf16},
      {"fp64", device.fp64},
      {"int8 products", device.int8_dot}};
  std::string text;
  for (const auto& [name, has] : kinds) {
    if (has != 0) text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
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
  if (device.numa_nodes > 1) {
    add("nodes     ", std::to_string(device.numa_nodes) + " of memory (NUMA)");
  }
  add("computes  ", arithmetic(device));
  add("features  ", device.features);
  add("driver    ", device.driver);
  print(text);
  const auto warn = [](const char* label, const std::string& why) {
    print(Style::kWarning, std::string("    ") + label);
    print(why + "\n");
  };
  if (*device.reason != '\0') warn("not used  ", device.reason);
  for (const std::string& line : lines_of(device.quarantined)) {
    warn("lacking   ", "an op: " + line);
  }
}

void print_test(const Json& device) {
  size_t passed = 0;
  size_t lacking = 0;
  std::vector<std::string> failures;
  for (const Json& test : device.at("tests")) {
    const auto outcome = test.at("outcome").get<std::string>();
    passed += outcome == "passed";
    lacking += outcome == "lacking";
    if (outcome == "failed") {
      failures.push_back(test.at("reason").get<std::string>());
    }
  }
  print(Style::kStrong, device.at("id").get<std::string>());
  if (!device.at("failure").is_null()) {
    print(Style::kWarning, ": not tested");
    print(": " + device.at("failure").get<std::string>() + "\n");
    return;
  }
  print(": " + std::to_string(passed) + " tests passed, " +
        std::to_string(failures.size()) + " failed, " +
        std::to_string(lacking) + " skipped as unsupported; " +
        fixed_text(device.at("seconds").get<double>(), 1) + " s\n");
  for (const std::string& failure : failures) {
    print(Style::kWarning, "    failed    ");
    print(failure + "\n");
  }
}

void test_devices(const std::string& spec, bool json) {
  Returned<char> text;
  {
    const InterruptWatch watch;
    ProgressBar bar("testing");
    const auto progress = [](void* user, double fraction) -> int32_t {
      static_cast<ProgressBar*>(user)->show(fraction);
      return interrupted() ? 1 : 0;
    };
    char* found = nullptr;
    check(rc_device_test(spec.c_str(), nullptr, progress, &bar, &found));
    text.reset(found);
  }
  if (json) return print(std::string(text.get()) + "\n");
  const Json found = Json::parse(text.get());
  for (const Json& device : found.at("devices")) print_test(device);
}

void forget_quarantine(const std::string& name, bool json) {
  int32_t lifted = 0;
  check(rc_quarantine_forget(name == "all" ? "" : name.c_str(), &lifted));
  if (json) return print(json_text(Json{{"lifted", lifted}}));
  print("The quarantine of " + std::to_string(lifted) +
        (lifted == 1 ? " device or module" : " devices and modules") +
        " is lifted.\n");
}

}  // namespace

void add_devices(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "devices",
      "Lists the devices, and the backends that are missing and why");
  auto json = std::make_shared<bool>(false);
  auto test = std::make_shared<std::string>();
  auto lift = std::make_shared<std::string>();
  command->add_flag("--json", *json, "print JSON");
  auto* tested = command->add_option(
      "--self-test", *test,
      "test what the devices of this chain compute, every op with every type: "
      "auto, vulkan, opencl:0,cpu; a device that computes wrongly is not used "
      "until its driver changes");
  tested->type_name("CHAIN");
  auto* lifted = command->add_option(
      "--forget-quarantine", *lift,
      "use again a device (vulkan:0) or a backend (vulkan) that failed its "
      "test or crashed, or all");
  lifted->type_name("NAME");
  tested->excludes(lifted);
  command->callback([=] {
    if (tested->count() > 0) return test_devices(*test, *json);
    if (lifted->count() > 0) return forget_quarantine(*lift, *json);
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
