// Kernels of a device against the reference backend.
//
// A small program is run when a device is opened; a device that fails it is
// passed over. The kernels of an op, for which a driver may compile for
// seconds, are tested when the first program needs them: an op whose kernels
// fail counts as unsupported. Successes are remembered between processes, for
// the same module with the same driver; failures are quarantined (see
// quarantine.h).
//
// Any thread. A test waits for its turn on the device.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/device.h"
#include "runtime/quarantine.h"

namespace rc::runtime {

struct SelfTestCase;

class SelfTest {
 public:
  // `module`: the path of the device's module; "": it has none, and nothing of
  // it is quarantined.
  SelfTest(const std::shared_ptr<Device>& device, const std::string& module);

  // Returns "" if the device computes correctly, otherwise a description of the
  // error. A device that does not support the op of the test is not tested.
  std::string of_device();
  // Does the same for the kernels that an op of a program needs. Returns "" for
  // ops that have no test. Tests each kind once. Throws if memory runs out or
  // the device is lost, which says nothing about its kernels.
  std::string of_op(const Op& op, const rc_plugin_value* values);

  // A test of the device and its outcome.
  struct Outcome {
    std::string test;     // "MATMUL of 256 terms with F16"
    bool lacking;         // the device has no such op, and nothing was tested
    std::string failure;  // "" if it computes what it should
  };
  // Tests every kind of op with every type, again what passed before: those
  // that a device has whose kernels are compiled take a second or two. What is
  // quarantined is not asked. `go_on` gets the part that is done and throws to
  // stop. Throws what of_op does.
  std::vector<Outcome> of_everything(
      const std::function<void(double fraction)>& go_on);

  // Whether the calling thread is within a test.
  static bool under_way();

  // The ops that one test represents: the op, then the numbers that choose its
  // kernels.
  using Kind = std::array<int64_t, 6>;

 private:
  std::weak_ptr<Device> device_;  // owns this
  std::string key_;
  std::string tested_;  // the module and the driver
  const bool quarantines_;
  Quarantine quarantine_;
  std::mutex running_;
  std::mutex mutex_;
  std::map<Kind, std::string> verdicts_;

  struct Verdict {
    std::string failure;
    bool lasting = true;  // no busy machine's doing
    bool lacking = false;
  };
  static Verdict run(const SelfTestCase& test,
                     const std::shared_ptr<Device>& device);
  bool passed_with_everything(const Kind& kind) const;
  // Keeps it between processes.
  void record(const std::string& key, std::string_view subject,
              const Verdict& verdict);
};

}  // namespace rc::runtime
