// Cuts a program whose ops are on several devices into segments, each a program
// for one device, and plans the host memory through which values cross from one
// device to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/program.h"

namespace rc::runtime {

struct Split {
  // The place of a segment's input or output in the whole program.
  struct Endpoint {
    enum Kind { kInput, kOutput, kTransfer };
    Kind kind;
    size_t index;
    bool operator==(const Endpoint&) const = default;
  };
  struct Segment {
    size_t device;
    size_t stage = 0;
    ProgramDescription description;  // with planned scratch offsets
    uint64_t scratch_bytes = 0;
    // By the segment's own numbers: those of the whole program.
    std::vector<size_t> ops;
    std::vector<size_t> weights;
    std::vector<size_t> caches;
    std::vector<Endpoint> inputs;
    std::vector<Endpoint> outputs;
  };
  // A value that crosses; its place in the area of transfer_bytes.
  struct Transfer {
    uint64_t bytes;
    uint64_t offset;
  };
  // The weights and caches that the segments of one device use.
  struct Share {
    std::vector<uint32_t> weight_uses;  // by weight; 0: not used here
    std::vector<bool> caches;           // by cache
    uint64_t scratch_bytes = 0;         // of all segments together
  };

  std::vector<Segment> segments;  // in the order of their runs
  std::vector<Transfer> transfers;
  uint64_t transfer_bytes = 0;  // of host memory
  std::vector<Share> devices;
  // Of the whole program, by index.
  std::vector<rc_plugin_value> inputs;
  std::vector<rc_plugin_value> outputs;
  std::vector<WeightInfo> weights;
  std::vector<rc_plugin_value> caches;
  ProgramLimits limits;
};

// `device_of_op` gives each op a device by its number below `device_count`. Ops
// that use one cache must lie on one device. If all lie on one device, and
// there is one stage, the only segment is the description itself. Throws what
// plan_scratch throws, and RC_E_INVALID_ARGUMENT for a value written by ops of
// several segments.
Split split(const ProgramDescription& description,
            std::span<const size_t> device_of_op, size_t device_count,
            const ProgramLimits& limits);

// The uses (RC_USE_*) that an op has for the weight at one of its inputs.
uint32_t weight_use(const Op& op, int input);

}  // namespace rc::runtime
