// One call of an op, tried on each device and through a handle that chooses,
// for choice.cc.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "choice_kinds.h"

namespace rc::bench {

// What came of a call on one device, or through the handle that chooses.
struct Outcome {
  std::optional<double> seconds;
  // If it was not measured:
  // "does not fit", "lacks it", "too large for it", "not tried", "failed"
  std::string left_out;
  std::string message;
  std::optional<double> expected_seconds;  // of what was not tried
};

struct Result {
  std::string kind;
  double elements = 0;
  std::string where;             // the device on which the operands lie
  std::string chosen;            // empty: the handle that chooses failed
  std::vector<Outcome> devices;  // in their order
  Outcome choosing;
  std::optional<size_t> chosen_number;

  // The least of the devices'; nullopt: no device was measured.
  std::optional<double> best() const;
  // On the device that was chosen.
  std::optional<double> taken() const;
};

class Trials {
 public:
  // `spec` names devices. A call that is expected to take longer than
  // `most_seconds` is not tried.
  Trials(const std::string& spec, double most_seconds);

  // The names of the devices, such as "cpu:0".
  std::vector<std::string> devices() const;
  // Whether each device was measured by `runcible calibrate`.
  bool calibrated() const;

  // With operands on the device of that number. `expected`: seconds by device,
  // by what it ran of the kind before; empty: nothing.
  Result run(const Kind& kind, double elements, size_t where,
             const std::vector<std::optional<double>>& expected) const;

 private:
  struct Device {
    std::string id;
    Backend backend;
  };

  Backend choosing_;
  std::vector<Device> devices_;
  const double most_seconds_;
};

}  // namespace rc::bench
