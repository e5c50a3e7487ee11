// Measures how fast prompts are evaluated and tokens generated.
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "number.h"
#include "op_table.h"
#include "output_file.h"
#include "terminal.h"
#include "trace.h"

namespace cli {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

struct BenchArguments {
  ModelChoice model;
  std::vector<int64_t> prompts = {64, 512};
  std::vector<int64_t> batches = {1, 2, 4, 8};
  std::vector<int64_t> depths = {4};
  int64_t tokens = 64;
  int repetitions = 3;
  bool json = false;
  std::string trace;  // file; "": none
  bool force = false;
};

// Any tokens do: time does not depend on them. Different sessions get different
// ones, so that nothing is shared.
std::vector<int32_t> some_tokens(int64_t count, int64_t vocabulary,
                                 uint32_t salt) {
  std::vector<int32_t> tokens;
  uint32_t state = 12345 + 977 * salt;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;  // Numerical Recipes' generator
    tokens.push_back(static_cast<int32_t>((state >> 8) % vocabulary));
  }
  return tokens;
}

void stop_if_interrupted() {
  if (interrupted()) throw Failure{kInterrupted, ""};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Tokens per second of one prompt.
double measure_prompt(const Model& model, int64_t length, int64_t vocabulary) {
  const Session session =
      make<Session>(rc_session_create, model.get(), nullptr);
  const std::vector<int32_t> tokens = some_tokens(length, vocabulary, 0);
  check(rc_session_append(session.get(), tokens.data(), tokens.size()));
  const Clock::time_point begin = Clock::now();
  check(rc_session_decode(session.get(), 0));
  const std::chrono::duration<double> time = Clock::now() - begin;
  return static_cast<double>(length) / time.count();
}

// Tokens per second of `batch` generations at once, all together, each behind a
// prompt of `depth` tokens.
double measure_decode(const Model& model, int64_t batch, int64_t depth,
                      int64_t count, int64_t vocabulary) {
  std::vector<Session> sessions;
  std::vector<Request> requests;
  for (int64_t i = 0; i < batch; ++i) {
    sessions.push_back(make<Session>(rc_session_create, model.get(), nullptr));
    // All but the last are evaluated first, so that all generations begin with
    // the same step, give or take one.
    const std::vector<int32_t> tokens =
        some_tokens(depth, vocabulary, static_cast<uint32_t>(i));
    if (depth > 1) {
      check(rc_session_append(sessions.back().get(), tokens.data(),
                              tokens.size() - 1));
      check(rc_session_decode(sessions.back().get(), 0));
    }
  }
  for (int64_t i = 0; i < batch; ++i) {
    const std::vector<int32_t> prompt = {
        some_tokens(depth, vocabulary, static_cast<uint32_t>(i)).back()};
    rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
    options.prompt_tokens = prompt.data();
    options.prompt_token_count = prompt.size();
    options.max_tokens = count;
    options.temperature = 0;
    options.ignore_eos = 1;
    rc_request* request = nullptr;
    check(rc_generate_async(sessions[static_cast<size_t>(i)].get(), &options,
                            nullptr, nullptr, nullptr, &request));
    requests.emplace_back(request);
  }
  int64_t longest = 1;
  for (const Request& request : requests) {
    rc_event event = RC_EVENT_INIT;
    while (event.type != RC_EVENT_END) {
      stop_if_interrupted();
      const rc_status status = rc_request_next(request.get(), 50, &event);
      if (status != RC_E_TIMEOUT) check(status);
    }
    if (event.report->status != RC_OK) {
      throw Failure{exit_code(event.report->status),
                    in_own_words(event.message)};
    }
    longest = std::max(longest, event.report->generate_us);
  }
  return static_cast<double>(batch * (count - 1)) * 1e6 /
         static_cast<double>(longest);
}

// Room for all sessions of the largest batch, each begun on a new page.
int64_t cache_tokens_for(const BenchArguments& arguments) {
  constexpr int64_t kPage = 256;
  const auto largest = [](const std::vector<int64_t>& numbers) {
    return *std::max_element(numbers.begin(), numbers.end());
  };
  return std::max(largest(arguments.prompts) + kPage,
                  largest(arguments.batches) *
                      (largest(arguments.depths) + arguments.tokens + kPage));
}

// Measures what the arguments ask for, one after the other.
class Measurements {
 public:
  Measurements(const BenchArguments& arguments, const Model& model,
               const rc_model_report& report)
      : arguments_(arguments), model_(model), report_(report) {}

  void run() {
    warm_up();
    for (const int64_t length : arguments_.prompts) prompt(length);
    for (const int64_t depth : arguments_.depths) decode(depth);
  }
  const Json& results() const { return results_; }
  const std::string& table() const { return table_; }

 private:
  // Devices raise their clocks under load only, and the engine learns how many
  // rows make a step.
  void warm_up() {
    constexpr std::chrono::seconds kTime(1);
    const int64_t length =
        std::min(arguments_.prompts.front(), report_.context_length);
    const Clock::time_point begin = Clock::now();
    do {
      stop_if_interrupted();
      measure_prompt(model_, length, report_.vocabulary);
    } while (Clock::now() - begin < kTime);
  }

  template <class Measure>
  double repeat(const Measure& measure) {
    const double all = static_cast<double>(
        (arguments_.prompts.size() +
         arguments_.batches.size() * arguments_.depths.size()) *
        static_cast<size_t>(arguments_.repetitions));
    std::vector<double> rates;
    for (int i = 0; i < arguments_.repetitions; ++i) {
      stop_if_interrupted();
      bar_.show(done_ / all);
      rates.push_back(measure());
      done_ += 1;
    }
    return median(rates);
  }

  void prompt(int64_t length) {
    if (length > report_.context_length) {
      note("a prompt of " + std::to_string(length) +
           " tokens is longer than the context of " +
           std::to_string(report_.context_length) + ": left out");
      return;
    }
    const double rate = repeat(
        [&] { return measure_prompt(model_, length, report_.vocabulary); });
    results_.push_back(
        {{"kind", "prompt"}, {"length", length}, {"tokens_per_second", rate}});
    table_ += "prompt of " + std::to_string(length) +
              " tokens: " + fixed_text(rate, 1) + " tokens/s\n";
  }

  void decode(int64_t depth) {
    if (depth + arguments_.tokens > report_.context_length) {
      note(std::to_string(arguments_.tokens) + " tokens behind " +
           std::to_string(depth) + " are more than the context of " +
           std::to_string(report_.context_length) + ": left out");
      return;
    }
    for (const int64_t batch : arguments_.batches) {
      const double rate = repeat([&] {
        return measure_decode(model_, batch, depth, arguments_.tokens,
                              report_.vocabulary);
      });
      results_.push_back({{"kind", "decode"},
                          {"batch", batch},
                          {"depth", depth},
                          {"tokens", arguments_.tokens},
                          {"tokens_per_second", rate}});
      table_ += "decode, " + std::to_string(batch) + " at once" +
                (arguments_.depths.size() > 1
                     ? " behind " + std::to_string(depth) + " tokens"
                     : "") +
                ": " + fixed_text(rate, 1) + " tokens/s\n";
    }
  }

  const BenchArguments& arguments_;
  const Model& model_;
  const rc_model_report& report_;
  const InterruptWatch watch_;
  ProgressBar bar_{"measuring"};
  double done_ = 0;
  Json results_ = Json::array();
  std::string table_;
};

void bench(const BenchArguments& arguments) {
  check_output(arguments.trace, arguments.force, Writing::kThrough,
               {arguments.model.path});
  const Backend backend =
      arguments.model.open_backend(!arguments.trace.empty());
  const std::unique_ptr<Trace> trace = Trace::of(backend, arguments.trace);
  rc_model_options options = arguments.model.options();
  options.prefix_cache = 0;
  options.cache_tokens = cache_tokens_for(arguments);
  const Clock::time_point load_begin = Clock::now();
  const Model model = arguments.model.load(backend, options);
  const double load_seconds =
      std::chrono::duration<double>(Clock::now() - load_begin).count();
  rc_model_report report = RC_MODEL_REPORT_INIT;
  check(rc_model_describe(model.get(), &report));

  Json results;
  std::string table;
  {
    Measurements measurements(arguments, model, report);
    measurements.run();
    results = measurements.results();
    table = measurements.table();
  }
  std::string ops;
  if (trace != nullptr) ops = op_table(trace->write(backend));
  if (arguments.json) {
    print(json_text(Json{{"model", report.name},
                         {"architecture", report.architecture},
                         {"parameters", report.parameters},
                         {"weight_bytes", report.weight_bytes},
                         {"cache_bytes", report.cache_bytes},
                         {"cache_tokens", report.cache_tokens},
                         {"load_seconds", load_seconds},
                         {"device", report.device},
                         {"build", Json::parse(rc_build_info())},
                         {"results", results}}));
  } else {
    print(table + (ops.empty() ? "" : "\n" + ops));
  }
}

}  // namespace

void add_bench(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "bench", "Measures prompt and decode rates of a model");
  auto arguments = std::make_shared<BenchArguments>();
  arguments->model.add_to(*command);
  // Lists are numbers separated by commas.
  begin_group(*command, "Measurement");
  const auto add_list = [&](const char* name, std::vector<int64_t>& list,
                            const char* help, Limits<int64_t> limits) {
    takes_several(limit(command->add_option(name, list, help), limits))
        ->delimiter(',')
        ->capture_default_str()
        ->type_name("NUMBER,...");
  };
  constexpr int64_t kMost = int64_t{1} << 30;
  add_list("--prompts", arguments->prompts, "lengths of prompts, in tokens",
           {1, kMost});
  add_list("--batches", arguments->batches, "how many generations at once",
           {1, 4096});
  add_list("--depths", arguments->depths,
           "tokens that each generation has before it", {1, kMost});
  limit<int64_t>(
      command->add_option("-n,--max-tokens,--tokens", arguments->tokens,
                          "tokens to generate in each"),
      {2, kMost})
      ->capture_default_str();
  limit<int>(command->add_option("--repetitions", arguments->repetitions,
                                 "of each measurement; the median is printed"),
             {1, 1000})
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "print JSON");
  takes_file(
      command->add_option("--trace", arguments->trace,
                          "measure each op too: print a table, and write the "
                          "times to this file for Perfetto or Chrome"));
  add_force(*command, arguments->force);
  end_group(*command);
  command->callback([arguments] { bench(*arguments); });
}

}  // namespace cli
