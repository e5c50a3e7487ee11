// Lists the fetched models.
#include <nlohmann/json.hpp>

#include "commands.h"
#include "one_of.h"
#include "terminal.h"

namespace cli {
namespace {

using Json = nlohmann::ordered_json;

Json cached_models() {
  char* text = nullptr;
  check(rc_cached_models(nullptr, &text));
  const Returned<char> owned(text);
  return Json::parse(text);
}

std::string revision_text(const Json& revision) {
  std::string text = "  " + revision["commit"].get<std::string>().substr(0, 12);
  const char* before = " (";
  for (const Json& name : revision["names"]) {
    text += before + name.get<std::string>();
    before = ", ";
  }
  text += revision["names"].empty() ? "\n" : ")\n";
  for (const Json& file : revision["files"]) {
    text += "    " + file["name"].get<std::string>() + "  " +
            bytes_text(file["bytes"].get<uint64_t>()) + "\n";
  }
  return text;
}

std::string model_text(const Json& model) {
  const auto bytes = [&](const char* name) {
    return model[name].get<uint64_t>();
  };
  std::string text =
      model["name"].get<std::string>() + "  " + bytes_text(bytes("bytes"));
  if (bytes("shared_bytes") > 0) {
    text += ", " + bytes_text(bytes("shared_bytes")) + " of it shared";
  }
  if (bytes("incomplete_bytes") > 0) {
    text += ", and " + bytes_text(bytes("incomplete_bytes")) + " incomplete";
  }
  text += "\n";
  for (const Json& revision : model["revisions"]) {
    text += revision_text(revision);
  }
  return text;
}

void list_models(bool json) {
  const Json list = cached_models();
  if (json) return print(json_text(list));
  if (list["models"].empty()) {
    note("no models in " + list["folder"].get<std::string>());
  }
  for (const Json& model : list["models"]) print(model_text(model));
}

void remove_models(const std::vector<std::string>& sources, bool json) {
  if (sources.empty()) {
    throw Failure{kUsage,
                  "say which model to remove, as runcible models lists "
                  "them: hf:OWNER/NAME[:FILE][@REVISION]"};
  }
  Json removed = Json::array();
  for (const std::string& source : sources) {
    size_t freed = 0;
    check(rc_cached_model_remove(source.c_str(), nullptr, &freed));
    removed.push_back({{"source", source}, {"bytes", freed}});
    if (!json)
      print(source + ": removed, " + bytes_text(freed) + " are free again\n");
  }
  if (json) print(json_text(Json{{"removed", removed}}));
}

}  // namespace

void add_models(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "models", "Lists the models that have been fetched, or removes some");
  struct Given {
    std::string action = "list";
    std::vector<std::string> sources;
    bool json = false;
  };
  auto given = std::make_shared<Given>();
  one_of(
      command->add_option("ACTION", given->action, "list (default) or remove"),
      {"list", "remove"})
      ->type_name("");
  command
      ->add_option("SOURCE", given->sources,
                   "the models to remove: hf:OWNER/NAME, and :FILE or "
                   "@REVISION of it")
      ->type_name("");
  command->add_flag("--json", given->json, "print JSON");
  command->callback([given] {
    if (given->action == "remove") {
      return remove_models(given->sources, given->json);
    }
    if (!given->sources.empty()) {
      throw Failure{kUsage,
                    "runcible models lists all; to look at one use "
                    "runcible inspect"};
    }
    list_models(given->json);
  });
}

}  // namespace cli
