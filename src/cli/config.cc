// The configured values and their origin.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "terminal.h"

namespace cli {
namespace {

using Json = nlohmann::ordered_json;

std::string source_text(const Json& report, const Json& setting) {
  const std::string source = text_of(setting, "source");
  if (source == "file") {
    return text_of(report, "path") + ":" +
           std::to_string(setting.at("line").get<int64_t>());
  }
  if (source == "environment") return "$" + text_of(setting, "variable");
  return source;
}

// The report as a file that would configure the same.
void print_settings(const Json& report, bool all) {
  const std::string path = text_of(report, "path");
  print("# " +
        (path.empty() ? std::string("no file is read")
                      : path + (report.at("exists").get<bool>()
                                    ? ""
                                    : ", which is not there")) +
        "\n");
  std::string table;
  for (const Json& setting : report.at("settings")) {
    const bool is_initial = text_of(setting, "source") == "initial";
    if (is_initial && !all) continue;
    const std::string key = text_of(setting, "key");
    const size_t point = key.find('.');
    if (table != key.substr(0, point)) {
      table = key.substr(0, point);
      print("\n[" + table + "]\n");
    }
    std::string line = key.substr(point + 1) + " = " + text_of(setting, "toml");
    // A setting without a value is a comment in such a file.
    if (setting.at("value").is_null()) line = "# " + key.substr(point + 1);
    constexpr size_t kColumn = 34;
    line.resize(std::max(line.size() + 2, kColumn), ' ');
    print(is_initial ? Style::kPlain : Style::kStrong, line);
    print("# " + source_text(report, setting) + "\n");
  }
  for (const Json& variable : report.at("other_variables")) {
    print("\n# $" + text_of(variable, "name") +
          " is no setting; the nearest is $" + text_of(variable, "nearest") +
          "\n");
  }
}

void print_meanings(const Json& report) {
  for (const Json& setting : report.at("settings")) {
    print(Style::kStrong, text_of(setting, "key"));
    print(" ($" + text_of(setting, "variable") +
          "): " + text_of(setting, "allowed") + "\n    " +
          text_of(setting, "meaning") + "\n");
  }
}

}  // namespace

void add_config(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "config", "Shows what is configured, and where each value comes from");
  auto path = std::make_shared<bool>(false);
  auto changed = std::make_shared<bool>(false);
  auto meanings = std::make_shared<bool>(false);
  auto json = std::make_shared<bool>(false);
  command->add_flag("--path", *path,
                    "print where the file is, or would be, and nothing else");
  command->add_flag("--changed", *changed, "only settings that are configured");
  command->add_flag("--meanings", *meanings,
                    "print what each setting means and allows");
  command->add_flag("--json", *json, "print JSON, with all that is known");
  command->callback([path, changed, meanings, json] {
    char* text = nullptr;
    check(rc_config_report(&text));
    const Returned<char> owner(text);
    if (*json) return print(std::string(text) + "\n");
    const Json report = Json::parse(text);
    if (*path) return print(text_of(report, "path") + "\n");
    if (*meanings) return print_meanings(report);
    print_settings(report, !*changed);
  });
}

}  // namespace cli
