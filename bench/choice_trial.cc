#include "choice_trial.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>

namespace rc::bench {
namespace {

using Clock = std::chrono::steady_clock;

// What a device lacks is to be seen, so that nothing falls back.
Backend open(const std::string& spec, int32_t placement) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.placement = placement;
  options.measure = 0;
  options.strict = placement == RC_PLACEMENT_FIRST;
  rc_backend* opened = nullptr;
  check(rc_backend_open(spec.c_str(), &options, &opened));
  return Backend(opened);
}

std::vector<Tensor> moved(const std::vector<Tensor>& operands,
                          rc_backend* backend, const char* device) {
  std::vector<Tensor> there;
  for (const Tensor& operand : operands) {
    there.push_back(make(rc_tensor_to, operand.get(), backend, device));
  }
  return there;
}

// Of the same shapes, to ask and not to compute.
std::vector<Tensor> outlines(const std::vector<Tensor>& operands,
                             rc_backend* backend, const char* device) {
  std::vector<Tensor> all;
  for (const Tensor& operand : operands) {
    rc_dtype dtype = RC_DTYPE_F32;
    int64_t shape[RC_TENSOR_MAX_RANK];
    int32_t rank = 0;
    check(rc_tensor_dtype(operand.get(), &dtype));
    check(rc_tensor_shape(operand.get(), shape, &rank));
    all.push_back(make(rc_tensor_outline, backend, dtype,
                       static_cast<const int64_t*>(shape), rank));
  }
  return moved(all, backend, device);
}

std::string device_of(const Tensor& tensor) {
  const char* device = "";
  check(rc_tensor_device(tensor.get(), &device));
  return device;
}

std::string left_out_for(rc_status status, bool runs_smaller) {
  switch (status) {
    case RC_E_DEVICE_MEMORY:
    case RC_E_OUT_OF_MEMORY:
      return "does not fit";
    case RC_E_UNSUPPORTED:
      return runs_smaller ? "too large for it" : "lacks it";
    default:
      return "failed";
  }
}

// How often each of several functions is run in turns, and the least time of
// each: what else runs on the machine only ever adds.
constexpr int kRounds = 8;
constexpr int kFewestRounds = 3;
constexpr double kEnough = 0.1;  // seconds of one function
// One that takes longer than this is run once after the first time.
constexpr double kLong = 0.5;
// The first time makes kernels and memory, and counts if it took longer still.
constexpr double kLongFirst = 8;
constexpr double kShortest = 2e-4;

// Smaller calls are tried whatever is expected of them.
constexpr double kLarge = 1e6;

struct Candidate {
  std::function<void()> function;
  Outcome* outcome;  // one that was left out before is not run
  bool runs_smaller;
  double least = 1e9;
  double spent = 0;
  int calls = 0;
};

void run_round(Candidate& candidate, int round) {
  const int times = round < 2 ? 1 : candidate.calls;
  const Clock::time_point start = Clock::now();
  for (int k = 0; k < times; ++k) candidate.function();
  const double seconds =
      std::chrono::duration<double>(Clock::now() - start).count();
  if (round == 0 && seconds < kLongFirst) return;
  candidate.spent += seconds;
  candidate.least = std::min(candidate.least, seconds / times);
  candidate.calls = std::max(1, static_cast<int>(kShortest / candidate.least));
  candidate.outcome->seconds = candidate.least;
}

void measure(std::vector<Candidate>& candidates) {
  for (int round = 0; round <= kRounds; ++round) {
    for (Candidate& candidate : candidates) {
      Outcome& outcome = *candidate.outcome;
      if (!outcome.left_out.empty() || candidate.spent > kLong ||
          (round > kFewestRounds && candidate.spent > kEnough)) {
        continue;
      }
      try {
        run_round(candidate, round);
      } catch (const Failure& failure) {
        outcome = {{},
                   left_out_for(failure.status, candidate.runs_smaller),
                   failure.what(),
                   {}};
      }
    }
  }
}

}  // namespace

std::optional<double> Result::best() const {
  std::optional<double> least;
  for (const Outcome& device : devices) {
    if (device.seconds && (!least || *device.seconds < *least)) {
      least = device.seconds;
    }
  }
  return least;
}

std::optional<double> Result::taken() const {
  return chosen_number ? devices[*chosen_number].seconds : std::nullopt;
}

Trials::Trials(const std::string& spec, double most_seconds)
    : choosing_(open(spec, RC_PLACEMENT_EACH_OP)), most_seconds_(most_seconds) {
  size_t begin = 0;
  while (begin < spec.size()) {
    const size_t end = std::min(spec.find(',', begin), spec.size());
    Device device;
    device.backend = open(spec.substr(begin, end - begin), RC_PLACEMENT_FIRST);
    rc_device_report report = RC_DEVICE_REPORT_INIT;
    check(rc_backend_device(device.backend.get(), &report));
    device.id = report.id;
    devices_.push_back(std::move(device));
    begin = end + 1;
  }
}

std::vector<std::string> Trials::devices() const {
  std::vector<std::string> names;
  for (const Device& device : devices_) names.push_back(device.id);
  return names;
}

bool Trials::calibrated() const {
  const char* account = "";
  check(rc_backend_explain(choosing_.get(), &account));
  return std::strstr(account, "\"measured\":false") == nullptr;
}

Result Trials::run(const Kind& kind, double elements, size_t where,
                   const std::vector<std::optional<double>>& expected) const {
  Result result;
  result.kind = kind.name;
  result.elements = elements;
  const Device& home = devices_[where];
  result.where = home.id;
  result.devices.resize(devices_.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!expected[i] || *expected[i] <= most_seconds_ || elements < kLarge) {
      continue;
    }
    char text[96];
    std::snprintf(text, sizeof text,
                  "it is expected to take %.3g s, more than %.3g s",
                  *expected[i], most_seconds_);
    result.devices[i] = {{}, "not tried", text, expected[i]};
  }
  const auto number_of = [&](const std::string& id) -> std::optional<size_t> {
    for (size_t i = 0; i < devices_.size(); ++i) {
      if (devices_[i].id == id) return i;
    }
    return {};
  };

  std::vector<Tensor> operands =
      kind.operands(devices_[0].backend.get(), elements);
  result.chosen =
      device_of(kind.run(outlines(operands, choosing_.get(), home.id.c_str())));
  result.chosen_number = number_of(result.chosen);
  if (result.chosen_number) {
    result.choosing = result.devices[*result.chosen_number];
  }
  std::vector<Tensor> for_choice;
  if (result.choosing.left_out.empty()) {
    for_choice = moved(operands, choosing_.get(), home.id.c_str());
  }
  operands = moved(operands, home.backend.get(), nullptr);
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < devices_.size(); ++i) {
    rc_backend* const backend = devices_[i].backend.get();
    candidates.push_back({[&operands, &kind, backend] {
                            kind.run(moved(operands, backend, nullptr));
                          },
                          &result.devices[i],
                          i < expected.size() && expected[i].has_value()});
  }
  candidates.push_back(
      {[&] { result.chosen = device_of(kind.run(for_choice)); },
       &result.choosing, false});
  measure(candidates);
  result.chosen_number = number_of(result.chosen);
  return result;
}

}  // namespace rc::bench
