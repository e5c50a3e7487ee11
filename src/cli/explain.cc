// Prints the devices that were chosen, why, and which part runs where.
#include <nlohmann/json.hpp>

#include "commands.h"
#include "terminal.h"

namespace cli {
namespace {

using Json = nlohmann::ordered_json;

void explain_choice(const Json& account) {
  const Json& device = account.at("device");
  const std::string spec = text_of(account, "spec");
  print("asked for   " + (spec.empty() ? "auto" : spec) + "\nchosen      ");
  print(Style::kStrong, text_of(device, "id"));
  print(": " + text_of(device, "name") + " (" + text_of(device, "kind") +
        ")\n");
  const Json& nodes = device.at("numa_nodes");
  if (!nodes.is_null() && nodes.get<int64_t>() > 1) {
    print("memory      " + nodes.dump() +
          " nodes; NUMA: " + text_of(account, "numa") + "\n");
  }
  for (const Json& candidate : account.at("candidates")) {
    if (candidate.at("chosen").get<bool>()) continue;
    print("passed over " + text_of(candidate, "id") + ": " +
          text_of(candidate, "reason") + "\n");
  }
}

// "layers 0 to 11, embedding, output", "experts of 4 layers"; "single ops" for
// what has only those.
std::string parts_text(const Json& part) {
  std::vector<std::string> parts;
  if (!part.at("layers").is_null()) {
    parts.push_back("layers " + part.at("layers")[0].dump() + " to " +
                    part.at("layers")[1].dump());
  }
  for (const char* name : {"embedding", "output"}) {
    if (part.at(name).get<bool>()) parts.emplace_back(name);
  }
  if (part.at("experts").get<bool>()) {
    parts.push_back(experts_text(part.at("expert_layers").get<int64_t>()));
  }
  if (parts.empty()) return "single ops";
  std::string text;
  for (const std::string& one : parts) text += (text.empty() ? "" : ", ") + one;
  return text;
}

void explain_models(const Json& account) {
  for (const Json& model : account.at("models")) {
    print("model       ");
    print(Style::kStrong, text_of(model, "file"));
    print(", a context of " + model.at("context_length").dump() +
          " tokens, KV cache of " + text_of(model, "cache_dtype") + "\n");
    for (const Json& part : model.at("devices")) {
      const auto bytes = [&](const char* key) {
        return bytes_text(part.at(key).get<uint64_t>());
      };
      print("  on " + text_of(part, "id") + ": " + parts_text(part) +
            "; weights " + bytes("weights") + ", KV cache " + bytes("cache") +
            ", activations " + bytes("scratch") + "\n");
    }
  }
}

void explain_fallbacks(const Json& account) {
  for (const Json& fallback : account.at("fallbacks")) {
    print(Style::kWarning, "fallback    ");
    print(text_of(fallback, "op") + ": " + text_of(fallback, "lacking") +
          " does not support it, it runs on " + text_of(fallback, "device") +
          ": " + text_of(fallback, "reason") + "\n");
  }
  if (account.at("fallbacks").empty() && !account.at("models").empty()) {
    print("Every op runs on the device that its layer lies on.\n");
  }
}

// On which devices tensors of the handle lie, and what it would choose by.
void explain_tensors(const Json& account) {
  const Json& tensors = account.at("tensors");
  if (tensors.is_null()) {
    print("tensors     on " + text_of(account.at("device"), "id") +
          ", which does all their ops\n");
    return;
  }
  print("tensors     new ones on " + text_of(tensors, "home") +
        "; each op on the device that will be done first\n");
  for (const Json& device : tensors.at("devices")) {
    const bool failed = !device.at("failure").is_null();
    print("  " + text_of(device, "id") + ": " +
          (failed ? "cannot be used: " + text_of(device, "failure")
           : device.at("measured").get<bool>()
               ? "measured"
               : "not measured yet; see runcible calibrate") +
          "\n");
  }
}

// The positional words: a spec, a model, or both in that order.
class Words {
 public:
  void add_to(CLI::App& command, ModelChoice& choice) {
    word_ = command.add_option(
        "SPEC", spec_,
        "a chain of choices, as for --backend: auto, gpu, cpu, vulkan:1, "
        "cuda,vulkan,cpu; may be left out before a MODEL");
    word_->type_name("");
    choice.add_to(command);
    command.get_option("--model")->required(false);
    backend_ = command.get_option("--backend");
  }

  // Whatever is no spec is a model.
  void put_into(ModelChoice& choice) const {
    if (word_->count() == 0) return;
    if (choice.path.empty() && !is_spec(spec_)) {
      choice.path = spec_;
      choice.named = word_;
      return;
    }
    if (backend_->count() > 0) {
      throw Failure{kUsage, "the chain is given twice: as " + spec_ +
                                " and by --backend"};
    }
    choice.backend = spec_;
  }

 private:
  // "vulkan:1,cpu"; a file of that name would be "./cpu".
  static bool is_spec(const std::string& text) {
    bool number = false;
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      const bool digit = c >= '0' && c <= '9';
      if (c == ',' || c == ' ') {
        number = false;
      } else if (c == ':') {
        const char next = i + 1 < text.size() ? text[i + 1] : ' ';
        if (number || next < '0' || next > '9') return false;
        number = true;
      } else if (number ? !digit
                        : !digit && c != '_' && (c < 'a' || c > 'z') &&
                              (c < 'A' || c > 'Z')) {
        return false;
      }
    }
    return true;
  }

  CLI::Option* word_ = nullptr;
  CLI::Option* backend_ = nullptr;
  std::string spec_;
};

void explain(const ModelChoice& choice, bool json) {
  const Backend backend = choice.open_backend();
  Model model;
  if (!choice.path.empty()) model = choice.load(backend, choice.options());
  const char* text = nullptr;
  check(rc_backend_explain(backend.get(), &text));
  if (json) {
    print(std::string(text) + "\n");
    return;
  }
  const Json account = Json::parse(text);
  explain_choice(account);
  explain_models(account);
  explain_fallbacks(account);
  explain_tensors(account);
}

}  // namespace

void add_explain(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "explain",
      "Shows which device is chosen and why, and where tensors would be; with "
      "a MODEL, what runs where");
  auto choice = std::make_shared<ModelChoice>();
  auto json = std::make_shared<bool>(false);
  auto words = std::make_shared<Words>();
  choice->path.clear();
  words->add_to(*command, *choice);
  command->add_flag("--json", *json, "print JSON, with all that is known");
  command->callback([choice, words, json] {
    words->put_into(*choice);
    explain(*choice, *json);
  });
}

}  // namespace cli
