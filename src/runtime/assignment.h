// Gives every op of a program a device: the one that was wished for it, or the
// CPU if that one lacks it.
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
  std::string op;  // "ATTENTION"
  std::string lacking;
  std::string device;  // where they run, "cpu:0"
  std::string reason;
  bool operator==(const Fallback&) const = default;
};

struct Assignment {
  std::vector<size_t> device_of_op;
  std::vector<Fallback> fallbacks;  // each once
};

// `wished` gives each op the number of one of the devices. Ops that use one
// cache go together: if one of them is lacking, all fall back, with the cache.
// `fallback` opens the device for what is lacking and is asked at most once; it
// is appended to `devices` unless it is one of them. Throws RC_E_UNSUPPORTED,
// naming devices, ops and reasons, if something is lacking and `strict` is set,
// or the function is empty, or the fallback lacks it too.
Assignment assign(const ProgramDescription& description,
                  std::vector<size_t> wished,
                  std::vector<std::shared_ptr<Device>>& devices,
                  const std::function<std::shared_ptr<Device>()>& fallback,
                  bool strict);

}  // namespace rc::runtime
