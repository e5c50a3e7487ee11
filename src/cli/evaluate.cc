// Evaluates a model, also against the model that it was made from.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "number.h"
#include "terminal.h"

namespace cli {
namespace {

using Json = nlohmann::ordered_json;

// The contexts of models where --context-length is not given.
constexpr int64_t kUsualWindow = 512;
constexpr int64_t kUsualQuestion = 4096;

struct EvaluateWish {
  ModelChoice model;
  std::string text, against, against_backend, choices;
  int64_t stride = 0;
  int64_t windows = 0;
  bool json = false;
};

// The longest sequence, in tokens.
int64_t context_of(const EvaluateWish& wish) {
  if (wish.model.context > 0) return wish.model.context;
  const int64_t usual = wish.choices.empty() ? kUsualWindow : kUsualQuestion;
  return std::min(usual, wish.model.trained_context());
}

bool compares(const EvaluateWish& wish) {
  return !wish.against.empty() || !wish.against_backend.empty();
}

rc_evaluate_report measure(const EvaluateWish& wish) {
  const Backend backend = wish.model.open_backend();
  rc_model_options load = wish.model.options();
  load.context_length = context_of(wish);
  load.prefix_cache = 0;
  const Model model = wish.model.load(backend, load);
  Model against;
  if (compares(wish)) {
    ModelChoice other = wish.model;
    if (!wish.against.empty()) other.path = wish.against;
    // The result of --quantize is compared with the model as it was.
    load.quantize = nullptr;
    if (wish.against_backend.empty()) {
      against = other.load_with_progress(backend, load);
    } else {
      other.backend = wish.against_backend;
      against = other.load_with_progress(other.open_backend(), load);
    }
  }
  rc_evaluate_options options = RC_EVALUATE_OPTIONS_INIT;
  if (!wish.text.empty()) options.text_path = wish.text.c_str();
  if (!wish.choices.empty()) options.choices_path = wish.choices.c_str();
  options.against = against.get();
  options.context = wish.model.context;
  options.stride = wish.stride;
  options.windows = wish.windows;
  rc_evaluate_report report = RC_EVALUATE_REPORT_INIT;
  ProgressBar bar("evaluating");
  const InterruptWatch watch;
  options.progress = [](void* user, double fraction) -> int32_t {
    static_cast<ProgressBar*>(user)->show(fraction);
    return interrupted() ? 1 : 0;
  };
  options.progress_user = &bar;
  check(rc_model_evaluate(model.get(), &options, &report));
  return report;
}

std::string row(std::string name, const std::string& text) {
  name.resize(std::max<size_t>(name.size(), 26), ' ');
  return name + "  " + text + "\n";
}

std::string with_error(double value, double error, int digits) {
  return fixed_text(value, digits) + " +- " + fixed_text(error, digits);
}

std::string percent(double value, double error) {
  return with_error(100.0 * value, 100.0 * error, 2) + " %";
}

std::string table(const rc_evaluate_report& r) {
  std::string text =
      row("size", bytes_text(r.model_bytes) + ", " +
                      fixed_text(r.bits_per_weight, 2) + " bits per weight");
  if (r.against_bytes > 0) {
    const double share = static_cast<double>(r.model_bytes) /
                         static_cast<double>(r.against_bytes);
    text +=
        row("size of the other", bytes_text(r.against_bytes) + ", this is " +
                                     fixed_text(100.0 * share, 1) + " % of it");
  }
  if (r.windows > 0) {
    text += row("text", std::to_string(r.windows) + " windows of " +
                            std::to_string(r.context) + " tokens, " +
                            std::to_string(r.tokens) + " scored");
    text += row("perplexity", with_error(r.perplexity, r.perplexity_error, 4));
    text += row("bits per byte",
                with_error(r.bits_per_byte, r.bits_per_byte_error, 4));
    text += row("tokens per second", fixed_text(r.tokens_per_second, 1));
  }
  if (r.against_bytes > 0 && r.windows > 0) {
    text +=
        row("perplexity of the other",
            with_error(r.against_perplexity, r.against_perplexity_error, 4));
    text += row("ratio of perplexities",
                with_error(r.perplexity_ratio, r.perplexity_ratio_error, 5));
    text +=
        row("KL divergence", with_error(r.divergence, r.divergence_error, 6));
    text += row("KL divergence, 99 %", fixed_text(r.divergence_99, 6));
    text += row("KL divergence, most", fixed_text(r.divergence_max, 6));
    text += row("same most probable token",
                percent(r.agreement, r.agreement_error));
    text +=
        row("RMS of differences of p",
            percent(r.probability_difference, r.probability_difference_error));
  }
  if (r.questions > 0) {
    text += row("questions", std::to_string(r.questions));
    text += row("accuracy", percent(r.accuracy, r.accuracy_error));
    text += row("accuracy by length",
                percent(r.accuracy_by_length, r.accuracy_by_length_error));
  }
  return text;
}

Json both(double value, double error) {
  return {{"value", value}, {"error", error}};
}

Json json_of(const rc_evaluate_report& r) {
  Json json = {{"bytes", r.model_bytes},
               {"bits_per_weight", r.bits_per_weight}};
  if (r.windows > 0) {
    json["text"] = {
        {"windows", r.windows},
        {"context", r.context},
        {"tokens", r.tokens},
        {"bytes", r.bytes},
        {"perplexity", both(r.perplexity, r.perplexity_error)},
        {"bits_per_byte", both(r.bits_per_byte, r.bits_per_byte_error)},
        {"tokens_per_second", r.tokens_per_second}};
  }
  if (r.against_bytes > 0) {
    Json& against = json["against"] = {{"bytes", r.against_bytes}};
    if (r.windows > 0) {
      against.update(
          {{"perplexity",
            both(r.against_perplexity, r.against_perplexity_error)},
           {"perplexity_ratio",
            both(r.perplexity_ratio, r.perplexity_ratio_error)},
           {"divergence", both(r.divergence, r.divergence_error)},
           {"divergence_99", r.divergence_99},
           {"divergence_max", r.divergence_max},
           {"agreement", both(r.agreement, r.agreement_error)},
           {"probability_difference",
            both(r.probability_difference, r.probability_difference_error)}});
    }
  }
  if (r.questions > 0) {
    json["choices"] = {
        {"questions", r.questions},
        {"accuracy", both(r.accuracy, r.accuracy_error)},
        {"accuracy_by_length",
         both(r.accuracy_by_length, r.accuracy_by_length_error)}};
  }
  return json;
}

void evaluate(const EvaluateWish& wish) {
  if (wish.text.empty() && wish.choices.empty()) {
    throw Failure{kUsage,
                  "neither TEXT nor --choices is given: there is nothing to "
                  "evaluate on"};
  }
  if (compares(wish) && wish.text.empty()) {
    throw Failure{kUsage,
                  wish.against.empty()
                      ? "--against-backend compares on a text, but no TEXT is "
                        "given"
                      : "--against compares on a text, but no TEXT is given"};
  }
  const rc_evaluate_report report = measure(wish);
  print(wish.json ? json_text(json_of(report)) : table(report));
}

}  // namespace

void add_evaluate(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "evaluate",
      "Measures how well a model predicts a text or answers questions");
  auto wish = std::make_shared<EvaluateWish>();
  wish->model.path.clear();
  wish->model.add_to(*command);
  command->get_option("--context-length")
      ->description(
          "tokens of a window; default: 512, or the model's context if that is "
          "less (a number from 4)");
  begin_group(*command, "Measurement");
  takes_file(
      command->add_option("TEXT", wish->text, "the text, a file of UTF-8"));
  takes_file(command->add_option(
      "--against", wish->against,
      "compare with this model, such as the one that was quantized"));
  command
      ->add_option("--against-backend", wish->against_backend,
                   "compare with the model, or that of --against, on this "
                   "chain of devices")
      ->type_name("CHAIN");
  takes_file(command->add_option(
      "--choices", wish->choices,
      "questions, a file with a JSON object on each line: \"question\", "
      "\"choices\", \"answer\""));
  limit<int64_t>(
      command->add_option("--stride", wish->stride,
                          "tokens from one window to the next, of which all "
                          "are scored; default: the context, with its second "
                          "half scored"),
      {1});
  limit<int64_t>(
      command->add_option("--windows", wish->windows,
                          "the most windows of the text; default: all"),
      {1});
  command->add_flag("--json", wish->json, "print JSON");
  end_group(*command);
  command->callback([wish] { evaluate(*wish); });
}

}  // namespace cli
