// The requested device and its substitutes: the next devices of its chain for
// layers that do not fit on it, the CPU for ops that it does not support. A
// substitute is opened when it is needed.
//
// A value; its functions may be called from any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/backend_spec.h"
#include "runtime/device.h"

namespace rc::runtime {

class DeviceChain {
 public:
  // A device without others: a layer that does not fit on it is an error.
  DeviceChain(std::shared_ptr<Device> first);  // NOLINT: meant to convert
  // `next` are specs of one device each ("vulkan:1", "cpu"). `strict`: an op
  // that the first device does not support is an error. `allowed` are the
  // devices that may be opened for layers; empty: all.
  DeviceChain(std::shared_ptr<Device> first, std::vector<std::string> next,
              bool strict, std::vector<SpecItem> allowed = {});

  const std::shared_ptr<Device>& first() const { return first_; }
  const std::vector<std::string>& next() const { return next_; }
  bool strict() const { return strict_; }

  // All devices of the chain, opened as the first was. Those that cannot be
  // opened are passed over, with a line in the log, and so are those that are
  // the same hardware as an earlier one.
  std::vector<std::shared_ptr<Device>> open() const;
  // Opens the device of the chain that the spec of one device ("vulkan:1",
  // "vulkan") means, or the CPU; no other. Throws RC_E_INVALID_ARGUMENT, naming
  // the option and the devices that there are, if it means none of them, and
  // what select() throws if it cannot be opened.
  std::shared_ptr<Device> open_one(const std::string& spec,
                                   const char* option) const;
  // Opens the device for unsupported ops: "cpu:0", with the options of the
  // first device.
  std::shared_ptr<Device> open_fallback() const;

 private:
  std::shared_ptr<Device> first_;
  std::vector<std::string> next_;
  bool strict_ = false;
  std::vector<SpecItem> allowed_;
};

}  // namespace rc::runtime
