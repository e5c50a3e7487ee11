// Kernels of a device against the reference backend.
//
// A small program is run when a device is opened; a device that fails it is
// passed over. The kernels of an op, for which a driver may compile for
// seconds, are tested when the first program needs them: an op whose kernels
// fail counts as one that the device lacks. What passed is remembered between
// processes, for the same module with the same driver.
//
// Any thread. A test waits for its turn on the device.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/device.h"

namespace rc::runtime {

class SelfTest {
 public:
  SelfTest(const std::shared_ptr<Device>& device, const std::string& module);

  // "" if the device computes what it should; otherwise what is wrong. A
  // device that lacks the op of the test is not tested.
  std::string of_device();
  // The same for the kernels that an op of a program needs; "" for ops that are
  // not tested. Tests each kind once. Throws when memory runs out or the device
  // is lost, which says nothing about its kernels.
  std::string of_op(const Op& op, const rc_plugin_value* values);

  // Whether the calling thread is within a test.
  static bool under_way();

  // What one test stands for: the op, then what chooses its kernels.
  using Kind = std::array<int64_t, 6>;

 private:
  std::weak_ptr<Device> device_;  // owns this
  std::string key_;
  std::string tested_;  // the module and the driver
  std::mutex running_;
  std::mutex mutex_;
  std::map<Kind, std::string> verdicts_;
};

}  // namespace rc::runtime
