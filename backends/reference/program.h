// A program of the reference backend, and how it runs.
#pragma once

#include <vector>

#include "common/given_program.h"
#include "common/host_program.h"
#include "reference/ops.h"
#include "runcible/plugin.h"
#include "tensor/op.h"

namespace rc::reference {

class Program {
 public:
  // Checks everything; throws RC_E_INVALID_ARGUMENT for a program that breaks a
  // rule of plugin.h.
  explicit Program(plugin::GivenProgram program);

  // Runs to the end. Throws RC_E_CANCELLED if the caller wants it to stop.
  void run(const rc_plugin_run& run) const;

 private:
  const plugin::HostProgram memory_;
  const std::vector<Op> ops_;
};

}  // namespace rc::reference
