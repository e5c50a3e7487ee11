// Fetching models.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "number.h"
#include "output_file.h"
#include "progress_line.h"
#include "terminal.h"

namespace cli {
namespace {

struct PullChoice {
  std::string source;
  std::string to;
  std::string revision;
  int32_t connections = 8;
};

// Returns the last part of an address, or nothing.
std::string last_part(const std::string& address) {
  std::string path = address.substr(0, address.find_first_of("?#"));
  const size_t host = path.find("://");
  const size_t slash = path.rfind('/');
  if (host == path.npos || slash < host + 3) return "";
  return path.substr(slash + 1);
}

// The server that is asked first: that of an address, or the hub.
std::string host_of(const std::string& source) {
  std::string address = source;
  if (address.find("://") == address.npos) {
    const char* const hub = std::getenv("HF_ENDPOINT");
    address = hub == nullptr || *hub == '\0' ? "https://huggingface.co" : hub;
  }
  const size_t begin = address.find("://");
  address.erase(0, begin == address.npos ? 0 : begin + 3);
  return address.substr(0, address.find_first_of("/?#"));
}

// Returns the path that loads it. The line of progress is gone then.
std::string fetch(const PullChoice& choice) {
  ProgressLine line(host_of(choice.source));
  rc_fetch_options options = RC_FETCH_OPTIONS_INIT;
  options.revision =
      choice.revision.empty() ? nullptr : choice.revision.c_str();
  options.to = choice.to.empty() ? nullptr : choice.to.c_str();
  options.connections = choice.connections;
  options.progress = [](void* user, const char* file, uint64_t done,
                        uint64_t total) -> int32_t {
    static_cast<ProgressLine*>(user)->show(file, done, total);
    return interrupted() ? 1 : 0;
  };
  options.progress_user = &line;
  const InterruptWatch watch;
  char* path = nullptr;
  check(rc_model_fetch(choice.source.c_str(), &options, &path));
  const Returned<char> fetched(path);
  return path;
}

void pull(PullChoice choice, bool force, bool json) {
  if (choice.to.empty() && choice.source.find("://") != std::string::npos) {
    choice.to = last_part(choice.source);
    if (choice.to.empty() || choice.to == "." || choice.to == "..") {
      throw Failure{kUsage, choice.source +
                                ": the address names no file; say where it is "
                                "to go with --to FILE"};
    }
  }
  check_output(choice.to, force, Writing::kReplaces, {});
  const std::string path = fetch(choice);
  if (json) return print(json_text(nlohmann::ordered_json{{"path", path}}));
  print(path + "\n");
}

}  // namespace

void add_pull(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "pull", "Fetches a model from a hub, or a file from an address");
  auto choice = std::make_shared<PullChoice>();
  command
      ->add_option("SOURCE", choice->source,
                   "hf:OWNER/NAME, hf:OWNER/NAME:FILE (or a quantization such "
                   "as Q4_K_M for FILE), either with @REVISION behind it; or "
                   "https://...")
      ->type_name("")
      ->required();
  takes_file(command->add_option(
      "--to", choice->to,
      "the file to write; default: the cache, and for an address the file "
      "that it names, in this folder"));
  command
      ->add_option("--revision", choice->revision,
                   "the branch, tag or commit; default: main")
      ->type_name("TEXT");
  limit<int32_t>(command
                     ->add_option("--connections", choice->connections,
                                  "how many connections at once")
                     ->capture_default_str(),
                 {1, 32});
  auto force = std::make_shared<bool>(false);
  auto json = std::make_shared<bool>(false);
  add_force(*command, *force);
  command->add_flag("--json", *json, "print JSON");
  command->callback([=] { pull(*choice, *force, *json); });
}

}  // namespace cli
