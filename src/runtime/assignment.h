// Gives every op of a program a device: the wished one, or the CPU if the
// wished device does not support the op.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/program.h"

namespace rc::runtime {

// Ops of one kind that do not run where they were wished, and why.
struct Fallback {
  std::string op;       // "ATTENTION"
  std::string lacking;  // the device that does not support them
  std::string device;   // where they run, "cpu:0"
  std::string reason;
  bool operator==(const Fallback&) const = default;
};

struct Assignment {
  std::vector<size_t> device_of_op;
  std::vector<Fallback> fallbacks;  // each once
};

// Assigns a device to each op. `wished` contains, for each op, the number of
// one of the devices. Ops that use one cache stay together: if one of them is
// unsupported, all of them fall back, with the cache. `fallback` opens the
// device for unsupported ops and is called at most once; its device is appended
// to `devices` unless it is one of them. Throws RC_E_UNSUPPORTED, naming
// devices, ops and reasons, if an op is unsupported and `strict` is set,
// `fallback` is empty, or the fallback device does not support the op either.
Assignment assign(const ProgramDescription& description,
                  std::vector<size_t> wished,
                  std::vector<std::shared_ptr<Device>>& devices,
                  const std::function<std::shared_ptr<Device>()>& fallback,
                  bool strict);

}  // namespace rc::runtime
