// The choice of a device for each op, held against an oracle that tries all.
//
//   choice [--devices=cpu,opencl,vulkan] [--calls=200] [--seed=1]
//          [--largest=1e8] [--seconds=20] > choice.json
//
// A set of calls of mixed ops and sizes, with operands that lie on one of the
// devices, is run on each of them (moving the operands there is a part of it),
// and through a handle that chooses. What the choice loses is the time on the
// devices that it chose over the time on the best ones, minus 1. A table of ops
// by sizes, with operands that the CPU holds, follows; a call that may be
// expected to take longer than `--seconds` on a device, by what the size below
// took there, is left out there. So is one that the device refuses. Run
// `runcible calibrate --backend=DEVICES` before: nothing is measured here.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "choice_kinds.h"
#include "choice_trial.h"
#include "runcible/runcible.h"

namespace rc::bench {
namespace {

struct Options {
  std::string devices = "cpu,opencl,vulkan";
  int calls = 200;
  uint32_t seed = 1;
  double largest = 1e8;  // of the table
  double seconds = 20;
};

double number_of(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(number >= 0)) {
    std::fprintf(stderr, "%s is no number\n", text.c_str());
    std::exit(2);
  }
  return number;
}

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t equals = std::min(argument.find('='), argument.size());
    const std::string name = argument.substr(0, equals);
    const std::string value =
        argument.substr(std::min(equals + 1, argument.size()));
    if (name == "--devices") {
      options.devices = value;
    } else if (name == "--calls") {
      options.calls = static_cast<int>(number_of(value));
    } else if (name == "--seed") {
      options.seed = static_cast<uint32_t>(number_of(value));
    } else if (name == "--largest") {
      options.largest = number_of(value);
    } else if (name == "--seconds") {
      options.seconds = number_of(value);
    } else {
      std::fprintf(stderr, "%s is no option; see bench/README.md\n",
                   argument.c_str());
      std::exit(2);
    }
  }
  return options;
}

// Of calls of which the best device and the chosen one are known.
struct Sums {
  double best = 0;
  double chosen = 0;
  double choosing = 0;  // through the handle that chooses

  void add(const Result& result) {
    const auto fastest = result.best();
    const auto taken = result.taken();
    if (!fastest || !taken || !result.choosing.seconds) return;
    best += *fastest;
    chosen += *taken;
    choosing += *result.choosing.seconds;
  }
  double lost() const { return best > 0 ? chosen / best - 1 : 0; }
};

std::vector<Result> run_mixed(const Trials& trials, const Options& options,
                              const std::vector<Kind>& all, Sums& sums) {
  std::mt19937 random(options.seed);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * (random() / 4294967296.0);
  };
  const size_t devices = trials.devices().size();
  std::vector<Result> mixed;
  for (int i = 0; i < options.calls; ++i) {
    const Kind& kind = all[random() % all.size()];
    const double elements = std::pow(10, uniform(2, std::log10(kind.most)));
    // Two of three have their operands on the first device.
    const size_t where = random() % 3 < 2 ? 0 : random() % devices;
    mixed.push_back(trials.run(kind, std::round(elements), where, {}));
    sums.add(mixed.back());
    std::fprintf(stderr, "\r%d of %d calls, %.1f%% lost  ", i + 1,
                 options.calls, 100 * sums.lost());
  }
  std::fprintf(stderr, "\n");
  return mixed;
}

std::vector<Result> run_table(const Trials& trials, const Options& options,
                              const std::vector<Kind>& all) {
  constexpr double kStep = 10;
  std::vector<Result> table;
  for (const Kind& kind : all) {
    std::vector<std::optional<double>> expected(trials.devices().size());
    for (double elements = 1e2; elements <= options.largest;
         elements *= kStep) {
      table.push_back(trials.run(kind, elements, 0, expected));
      const Result& result = table.back();
      for (size_t i = 0; i < expected.size(); ++i) {
        if (result.devices[i].seconds) expected[i] = result.devices[i].seconds;
        if (expected[i]) *expected[i] *= std::pow(kStep, kind.growth);
      }
      std::fprintf(stderr, "\r%s of %.0e                ", kind.name, elements);
    }
  }
  std::fprintf(stderr, "\n");
  return table;
}

std::string json_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return quoted + '"';
}

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

std::string json_of_left_out(const Outcome& outcome) {
  std::string text = "{\"why\":" + json_text(outcome.left_out) +
                     ",\"message\":" + json_text(outcome.message);
  if (outcome.expected_seconds) {
    text += ",\"expected_seconds\":" + number_text(*outcome.expected_seconds);
  }
  return text + '}';
}

void print(const std::vector<std::string>& devices,
           const std::vector<Result>& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    const Result& result = results[i];
    std::printf(
        "%s\n  {\"op\":\"%s\",\"elements\":%.0f,\"where\":\"%s\","
        "\"chosen\":\"%s\"",
        i == 0 ? "" : ",", result.kind.c_str(), result.elements,
        result.where.c_str(), result.chosen.c_str());
    if (result.choosing.seconds) {
      std::printf(",\"choosing_seconds\":%.6g", *result.choosing.seconds);
    }
    std::string measured, left_out;
    for (size_t k = 0; k < devices.size(); ++k) {
      const Outcome& outcome = result.devices[k];
      std::string& list = outcome.seconds ? measured : left_out;
      list += (list.empty() ? "" : ",") + json_text(devices[k]) + ':';
      list += outcome.seconds ? number_text(*outcome.seconds)
                              : json_of_left_out(outcome);
    }
    std::printf(",\"seconds\":{%s}", measured.c_str());
    if (!left_out.empty()) std::printf(",\"left_out\":{%s}", left_out.c_str());
    std::printf("}");
  }
  std::printf("\n]");
}

int run(const Options& options) {
  const Trials trials(options.devices, options.seconds);
  if (!trials.calibrated()) {
    std::fprintf(stderr,
                 "not every device was measured; run: runcible calibrate "
                 "--backend %s\n",
                 options.devices.c_str());
    return 1;
  }
  const std::vector<std::string> devices = trials.devices();
  const std::vector<Kind> all = kinds();
  Sums sums;
  const std::vector<Result> mixed = run_mixed(trials, options, all, sums);
  const std::vector<Result> table = run_table(trials, options, all);

  std::string names;
  for (const std::string& device : devices) {
    names += (names.empty() ? "" : ",") + json_text(device);
  }
  double load[1] = {0};
  static_cast<void>(getloadavg(load, 1));
  std::printf(
      "{\"version\":\"%s\",\"devices\":[%s],\"load_average_at_end\":%.1f,"
      "\"best_seconds\":%.6g,\"chosen_seconds\":%.6g,"
      "\"choosing_seconds\":%.6g,\"lost\":%.4f,\"most_seconds\":%.6g,"
      "\n\"calls\":[",
      rc_version_string(), names.c_str(), load[0], sums.best, sums.chosen,
      sums.choosing, sums.lost(), options.seconds);
  print(devices, mixed);
  std::printf(",\n\"table\":[");
  print(devices, table);
  std::printf("}\n");
  return 0;
}

}  // namespace
}  // namespace rc::bench

int main(int argc, char** argv) {
  try {
    return rc::bench::run(rc::bench::read_options(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
