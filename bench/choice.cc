// The choice of a device for each op, held against an oracle that tries all.
//
//   choice [--devices=cpu,opencl,vulkan] [--calls=200] [--seed=1]
//          [--largest=1e8] > choice.json
//
// A set of calls of mixed ops and sizes, with operands that lie on one of the
// devices, is run on each of them (moving the operands there is a part of it),
// and through a handle that chooses. What the choice loses is the time on the
// devices that it chose over the time on the best ones, minus 1. A table of ops
// by sizes, with operands that the CPU holds, follows. Run `runcible calibrate
// --backend=DEVICES` before: nothing is measured here.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "choice_kinds.h"
#include "runcible/runcible.h"

namespace rc::bench {
namespace {

using Clock = std::chrono::steady_clock;

Backend open(const std::string& spec, int32_t placement) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.placement = placement;
  options.measure = 0;
  rc_backend* opened = nullptr;
  check(rc_backend_open(spec.c_str(), &options, &opened));
  return Backend(opened);
}

struct Device {
  std::string id;
  Backend backend;
};

std::vector<Tensor> moved(const std::vector<Tensor>& operands,
                          rc_backend* backend, const char* device) {
  std::vector<Tensor> there;
  for (const Tensor& operand : operands) {
    there.push_back(make(rc_tensor_to, operand.get(), backend, device));
  }
  return there;
}

std::string device_of(const Tensor& tensor) {
  const char* device = "";
  check(rc_tensor_device(tensor.get(), &device));
  return device;
}

// How often each of several functions is run in turns, and the least time of
// each: what else runs on the machine only ever adds.
constexpr int kRounds = 8;
constexpr int kFewestRounds = 3;
constexpr double kEnough = 0.1;  // seconds of one function
// One that takes longer than this is run once.
constexpr double kLong = 0.5;
constexpr double kShortest = 2e-4;

std::vector<double> least_seconds(
    const std::vector<std::function<void()>>& functions) {
  std::vector<double> least(functions.size(), 1e9);
  std::vector<double> spent(functions.size(), 0);
  std::vector<int> calls(functions.size(), 0);
  for (int round = 0; round <= kRounds; ++round) {
    for (size_t i = 0; i < functions.size(); ++i) {
      if (spent[i] > kLong || (round > kFewestRounds && spent[i] > kEnough)) {
        continue;
      }
      const int times = round < 2 ? 1 : calls[i];
      const Clock::time_point start = Clock::now();
      for (int k = 0; k < times; ++k) functions[i]();
      const double seconds =
          std::chrono::duration<double>(Clock::now() - start).count();
      // The first round makes kernels and memory.
      if (round == 0 && seconds < kLong) continue;
      spent[i] += seconds;
      least[i] = std::min(least[i], seconds / times);
      calls[i] = std::max(1, static_cast<int>(kShortest / least[i]));
    }
  }
  return least;
}

struct Result {
  std::string kind;
  double elements = 0;
  std::string where;
  std::string chosen;
  std::vector<double> seconds;  // by device
  double choosing = 0;          // through the handle that chooses
  size_t chosen_number = 0;

  double best() const {
    return *std::min_element(seconds.begin(), seconds.end());
  }
  double taken() const { return seconds[chosen_number]; }
};

class Bench {
 public:
  explicit Bench(const std::string& spec)
      : choosing_(open(spec, RC_PLACEMENT_EACH_OP)) {
    size_t begin = 0;
    while (begin < spec.size()) {
      const size_t end = std::min(spec.find(',', begin), spec.size());
      Device device;
      device.backend =
          open(spec.substr(begin, end - begin), RC_PLACEMENT_FIRST);
      rc_device_report report = RC_DEVICE_REPORT_INIT;
      check(rc_backend_device(device.backend.get(), &report));
      device.id = report.id;
      devices_.push_back(std::move(device));
      begin = end + 1;
    }
  }

  const std::vector<Device>& devices() const { return devices_; }

  // Nothing is compared where something was not measured.
  void need_calibrations(const std::string& spec) const {
    const char* account = "";
    check(rc_backend_explain(choosing_.get(), &account));
    if (std::strstr(account, "\"measured\":false") == nullptr) return;
    std::fprintf(stderr,
                 "not every device was measured; run: runcible calibrate "
                 "--backend %s\n",
                 spec.c_str());
    std::exit(1);
  }

  Result run(const Kind& kind, double elements, size_t where) {
    Result result;
    result.kind = kind.name;
    result.elements = elements;
    result.where = devices_[where].id;
    const std::vector<Tensor> made =
        kind.operands(devices_[0].backend.get(), elements);
    const std::vector<Tensor> operands =
        moved(made, devices_[where].backend.get(), nullptr);
    const std::vector<Tensor> for_choice =
        moved(made, choosing_.get(), devices_[where].id.c_str());
    std::vector<std::function<void()>> functions;
    for (const Device& device : devices_) {
      functions.emplace_back(
          [&] { kind.run(moved(operands, device.backend.get(), nullptr)); });
    }
    functions.emplace_back(
        [&] { result.chosen = device_of(kind.run(for_choice)); });
    result.seconds = least_seconds(functions);
    result.choosing = result.seconds.back();
    result.seconds.pop_back();
    for (size_t i = 0; i < devices_.size(); ++i) {
      if (devices_[i].id == result.chosen) result.chosen_number = i;
    }
    return result;
  }

 private:
  Backend choosing_;
  std::vector<Device> devices_;
};

void print(const Bench& bench, const std::vector<Result>& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    const Result& result = results[i];
    std::printf(
        "%s\n  {\"op\":\"%s\",\"elements\":%.0f,\"where\":\"%s\","
        "\"chosen\":\"%s\",\"choosing_seconds\":%.6g,\"seconds\":{",
        i == 0 ? "" : ",", result.kind.c_str(), result.elements,
        result.where.c_str(), result.chosen.c_str(), result.choosing);
    for (size_t k = 0; k < result.seconds.size(); ++k) {
      std::printf("%s\"%s\":%.6g", k == 0 ? "" : ",",
                  bench.devices()[k].id.c_str(), result.seconds[k]);
    }
    std::printf("}}");
  }
  std::printf("\n]");
}

double number_of(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(number >= 0)) {
    std::fprintf(stderr, "%s is no number\n", text.c_str());
    std::exit(2);
  }
  return number;
}

}  // namespace

int run(int argc, char** argv) {
  std::string spec = "cpu,opencl,vulkan";
  int calls = 200;
  uint32_t seed = 1;
  double largest = 1e8;  // of the table
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t equals = std::min(argument.find('='), argument.size());
    const std::string name = argument.substr(0, equals);
    const std::string value =
        argument.substr(std::min(equals + 1, argument.size()));
    if (name == "--devices") {
      spec = value;
    } else if (name == "--calls") {
      calls = static_cast<int>(number_of(value));
    } else if (name == "--seed") {
      seed = static_cast<uint32_t>(number_of(value));
    } else if (name == "--largest") {
      largest = number_of(value);
    } else {
      std::fprintf(stderr, "%s is no option; see bench/README.md\n",
                   argument.c_str());
      return 2;
    }
  }
  Bench bench(spec);
  bench.need_calibrations(spec);
  const std::vector<Kind> all = kinds();

  std::mt19937 random(seed);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * (random() / 4294967296.0);
  };
  std::vector<Result> mixed;
  double taken = 0, choosing = 0, best = 0;
  for (int i = 0; i < calls; ++i) {
    const Kind& kind = all[random() % all.size()];
    const double most = std::min(kind.most, 4e6);
    const double elements = std::pow(10, uniform(2, std::log10(most)));
    // Two of three have their operands on the first device.
    const size_t where =
        random() % 3 < 2 ? 0 : random() % bench.devices().size();
    mixed.push_back(bench.run(kind, std::round(elements), where));
    const Result& result = mixed.back();
    taken += result.taken();
    choosing += result.choosing;
    best += result.best();
    std::fprintf(stderr, "\r%d of %d calls, %.1f%% lost  ", i + 1, calls,
                 100 * (taken / best - 1));
  }
  std::fprintf(stderr, "\n");

  std::vector<Result> table;
  for (const Kind& kind : all) {
    for (double elements = 1e2; elements <= std::min(kind.most, largest);
         elements *= 10) {
      table.push_back(bench.run(kind, elements, 0));
      std::fprintf(stderr, "\r%s of %.0e                ", kind.name, elements);
    }
  }
  std::fprintf(stderr, "\n");
  double load[1] = {0};
  static_cast<void>(getloadavg(load, 1));
  std::printf(
      "{\"version\":\"%s\",\"load_average_at_end\":%.1f,"
      "\"best_seconds\":%.6g,\"chosen_seconds\":%.6g,"
      "\"choosing_seconds\":%.6g,\"lost\":%.4f,\n\"calls\":[",
      rc_version_string(), load[0], best, taken, choosing,
      best > 0 ? taken / best - 1 : 0);
  print(bench, mixed);
  std::printf(",\n\"table\":[");
  print(bench, table);
  std::printf("}\n");
  return 0;
}

}  // namespace rc::bench

int main(int argc, char** argv) { return rc::bench::run(argc, argv); }
