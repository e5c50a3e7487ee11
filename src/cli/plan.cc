#include <nlohmann/json.hpp>

#include "chat_choice.h"
#include "commands.h"
#include "node_words.h"
#include "terminal.h"
#include "type_choice.h"

namespace cli {
namespace {

using Devices = std::vector<rc_plan_device_report>;

Devices devices_of(rc_plan* plan, const rc_plan_report& report) {
  Devices devices(static_cast<size_t>(report.device_count));
  for (size_t i = 0; i < devices.size(); ++i) {
    devices[i] = RC_PLAN_DEVICE_REPORT_INIT;
    check(rc_plan_device(plan, i, &devices[i]));
  }
  return devices;
}

using Offers = std::vector<rc_plan_offer_report>;

Offers offers_of(rc_plan* plan, const rc_plan_report& report) {
  Offers offers(static_cast<size_t>(report.offer_count));
  for (size_t i = 0; i < offers.size(); ++i) {
    offers[i] = RC_PLAN_OFFER_REPORT_INIT;
    check(rc_plan_offer(plan, i, &offers[i]));
  }
  return offers;
}

// The options with which the model would fit, or the command that makes one
// that does.
std::string choice_text(const rc_plan_offer_report& offer) {
  const std::string option = offer.option, value = offer.value;
  if (option == "context_length") return "--context-length " + value;
  if (option == "cache_dtype") {
    std::string type = value;
    for (char& c : type) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return "--cache-dtype " + type;
  }
  if (option == "backend") return "--backend " + value;
  if (option == "experts_on") return "--experts-on " + value;
  if (option == "experts_mapped") return "--experts-mapped";
  if (option == "keep_mapped") return "--keep-mapped";
  return "runcible quantize INPUT OUTPUT " + value;
}

std::string offers_text(const Offers& offers) {
  if (offers.empty()) return {};
  std::string text = "\nwhat would fit\n";
  for (const rc_plan_offer_report& offer : offers) {
    text += "  " + choice_text(offer) + ": " + bytes_text(offer.total) +
            ", a context of " + std::to_string(offer.context_length) +
            " tokens" +
            (offer.mapped == 0
                 ? std::string()
                 : ", " + bytes_text(offer.mapped) + " in the mapped file") +
            "\n";
  }
  return text;
}

nlohmann::ordered_json offers_json(const Offers& offers) {
  auto list = nlohmann::ordered_json::array();
  for (const rc_plan_offer_report& offer : offers) {
    list.push_back({{"choice", choice_text(offer)},
                    {"value", offer.value},
                    {"total", offer.total},
                    {"mapped", offer.mapped},
                    {"context_length", offer.context_length}});
  }
  return list;
}

// "layers 0 to 11, embedding, output", "experts of 4 layers"; "" if it holds
// only single ops.
std::string parts_text(const rc_plan_device_report& device) {
  std::string text;
  const auto add = [&](const std::string& part) {
    text.append(text.empty() ? "" : ", ").append(part);
  };
  if (device.layers > 0) {
    add("layers " + std::to_string(device.first_layer) + " to " +
        std::to_string(device.first_layer + device.layers - 1));
  }
  if (device.embedding != 0) add("embedding");
  if (device.output != 0) add("output");
  if (device.experts != 0) add(experts_text(device.expert_layers));
  return text;
}

// Describes the weights in the memory of a CPU; "" for other devices.
std::string pages_text(const rc_plan_device_report& device,
                       const std::string& margin) {
  std::string text;
  if (device.huge_pages != RC_HUGE_PAGES_UNKNOWN) {
    text += margin + "huge pages       " +
            (device.huge_pages == RC_HUGE_PAGES_NEVER
                 ? std::string("none")
                 : "up to " + bytes_text(device.huge_page_weights)) +
            " of the weights (" + huge_pages_name(device.huge_pages) + ")";
    text += "\n";
  }
  if (device.numa != RC_NUMA_OFF) {
    text += margin + "NUMA             " + numa_name(device.numa) + "\n";
  }
  return text;
}

// Where the parts of a model on several devices lie; "" for one device.
std::string devices_text(const Devices& devices) {
  std::string text;
  if (devices.size() == 1) return text;
  for (const rc_plan_device_report& device : devices) {
    std::string parts = parts_text(device);
    if (parts.empty()) parts = device.total > 0 ? "single ops" : "nothing";
    text += "\n" + std::string(device.device) + ": " + parts +
            "\n  weights        " + bytes_text(device.weights) +
            "\n  KV cache       " + bytes_text(device.cache) +
            "\n  activations    " + bytes_text(device.scratch) +
            "\n  total          " + bytes_text(device.total) + " of " +
            (device.available == 0 ? "unknown" : bytes_text(device.available)) +
            "\n" + (device.weights > 0 ? pages_text(device, "  ") : "");
  }
  return text;
}

nlohmann::ordered_json devices_json(const Devices& devices) {
  auto list = nlohmann::ordered_json::array();
  for (const rc_plan_device_report& device : devices) {
    list.push_back({{"device", device.device},
                    {"first_layer", device.first_layer},
                    {"layers", device.layers},
                    {"embedding", device.embedding != 0},
                    {"output", device.output != 0},
                    {"experts", device.experts != 0},
                    {"expert_layers", device.expert_layers},
                    {"weights", device.weights},
                    {"cache", device.cache},
                    {"scratch", device.scratch},
                    {"total", device.total},
                    {"available", device.available},
                    {"huge_page_weights", device.huge_page_weights},
                    {"huge_pages", huge_pages_name(device.huge_pages)},
                    {"numa", numa_name(device.numa)}});
  }
  return list;
}

// A model of which there is no file.
class Estimate {
 public:
  void add_to(CLI::App& command) {
    option_ = takes_file(command.add_option(
        "--estimate", source_,
        "instead of a MODEL: hyper-parameters, as JSON or a file of it, such "
        "as {\"architecture\": \"llama\", \"block_count\": 32, ...}; see the "
        "manual"));
    option_->excludes(command.get_option("--model"));
    takes_type(command.add_option("--type", type_,
                                  "with --estimate: the type of its weights, "
                                  "such as Q4_K_M (see runcible help types); "
                                  "default: F16"))
        ->needs(option_);
  }
  bool given() const { return option_->count() > 0; }

  Plan plan(const rc_model_options& options, const Backend& backend) const {
    return make<Plan>(rc_model_estimate, text().c_str(), type_.c_str(),
                      &options, backend.get());
  }

 private:
  std::string text() const {
    const size_t first = source_.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && source_[first] == '{') return source_;
    return read_text_file(source_);
  }

  CLI::Option* option_ = nullptr;
  std::string source_;
  std::string type_;
};

}  // namespace

void add_plan(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "plan", "Shows how much device memory a model would take");
  auto choice = std::make_shared<ModelChoice>();
  auto json = std::make_shared<bool>(false);
  auto estimate = std::make_shared<Estimate>();
  choice->add_to(*command);
  command->add_flag("--json", *json, "print JSON");
  estimate->add_to(*command);
  command->callback([choice, json, estimate] {
    const Backend backend = choice->open_backend();
    const rc_model_options options = choice->options();
    const Plan made = estimate->given()
                          ? estimate->plan(options, backend)
                          : make<Plan>(rc_model_plan, choice->path.c_str(),
                                       &options, backend.get());
    rc_plan_report plan = RC_PLAN_REPORT_INIT;
    check(rc_plan_describe(made.get(), &plan));
    const Devices devices = devices_of(made.get(), plan);
    const Offers offers = offers_of(made.get(), plan);
    if (!estimate->given()) {
      choice->note_default();
      if (choice->context > 0) choice->note_context(choice->trained_context());
    }
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
                                 {"cache_dtype", plan.cache_dtype_name},
                                 {"largest_context", plan.largest_context},
                                 {"transfers", plan.transfers},
                                 {"devices", devices_json(devices)},
                                 {"offers", offers_json(offers)}}));
      return;
    }
    print(std::string("device           ") + device.id + " (" + device.name +
          ")\ncontext          " + std::to_string(plan.context_length) +
          " tokens\nweights          " + bytes_text(plan.weights) +
          "\nKV cache         " + bytes_text(plan.cache) + " for " +
          std::to_string(plan.cache_tokens) + " tokens, " +
          plan.cache_dtype_name + "\nactivations      " +
          bytes_text(plan.scratch) + "\ntotal            " +
          bytes_text(plan.total) + "\navailable        " +
          (plan.available == 0 ? "unknown" : bytes_text(plan.available)) +
          "\nfits             " + (plan.fits != 0 ? "yes" : "no") +
          "\nlargest context  " + std::to_string(plan.largest_context) +
          " tokens\n" +
          (devices.size() == 1 ? pages_text(devices[0], "") : "") +
          devices_text(devices) + offers_text(offers));
  });
}

}  // namespace cli
