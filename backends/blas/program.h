// Compiled programs: the ops one after the other, each shared out among the
// threads of the handle.
#pragma once

#include <span>
#include <vector>

#include "blas/ops.h"
#include "common/given_program.h"
#include "common/host_program.h"
#include "runcible/plugin.h"

namespace rc::blas {

class Program {
 public:
  // Checks everything; throws RC_E_INVALID_ARGUMENT for a program that breaks a
  // rule of plugin.h, RC_E_UNSUPPORTED for one with an op that there is not.
  Program(const plugin::GivenProgram& program, const Machine& machine,
          bool profile);

  // Runs to the end. Throws RC_E_CANCELLED if the caller wants it to stop.
  void run(const rc_plugin_run& run) { run_on(run, memory_.caches()); }
  // The same with these caches in place of the program's.
  void run_with(const rc_plugin_run& run,
                std::span<plugin::HostBuffer* const> caches);
  // Returns the times of the last run, by op; nothing without profile.
  std::span<const rc_plugin_op_time> op_times() const { return times_; }

 private:
  struct Step {
    Op op;
    const OpRow* row;
  };

  void run_on(const rc_plugin_run& run,
              std::span<plugin::HostBuffer* const> caches);
  void run_step(const Step& step, const rc_plugin_run& run,
                std::span<plugin::HostBuffer* const> caches);

  const Machine& machine_;
  const bool profile_;
  const plugin::HostProgram memory_;
  std::vector<Step> steps_;
  plugin::AlignedMemory thread_scratch_;
  uint64_t thread_stride_ = 0;
  std::vector<rc_plugin_op_time> times_;
};

}  // namespace rc::blas
