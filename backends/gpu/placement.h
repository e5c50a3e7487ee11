// Where the values of a program lie on the device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/given_program.h"
#include "gpu/device.h"

namespace rc::gpu {

class Placement {
 public:
  // Takes memory for inputs, outputs and scratch. The weights and caches of the
  // program are this room's.
  Placement(Device& device, const plugin::GivenProgram& program);

  std::span<const Placed> values() const { return values_; }
  const Rows& limits() const { return limits_; }

  // The transfers to the device before a run, and to the host after it. Throws
  // RC_E_INVALID_ARGUMENT for numbers beyond those of the program and for
  // memory that is missing.
  std::vector<Transfer> inputs(const rc_plugin_run& run) const;
  std::vector<Transfer> outputs(const rc_plugin_run& run) const;

 private:
  // Inputs or outputs, by index.
  struct Group {
    std::unique_ptr<Buffer> buffer;
    std::vector<Region> regions;
    std::vector<const rc_plugin_value*> values;  // nullptr where no op has it
  };

  void place(size_t number, const plugin::GivenProgram& program);
  void allocate(Device& device, MemoryUse use, Group* group);
  std::vector<Transfer> transfers(const char* what, const Group& group,
                                  const rc_plugin_run& run,
                                  void* const* host) const;

  Rows limits_;
  uint64_t scratch_scale_;
  std::vector<Placed> values_;
  std::unique_ptr<Buffer> scratch_;
  Group inputs_, outputs_;
};

}  // namespace rc::gpu
