// An op of a program during one run: where its values lie, and whether to stop.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "blas/cblas.h"
#include "blas/team.h"
#include "common/host_program.h"
#include "runcible/plugin.h"
#include "tensor/dtype.h"
#include "tensor/op.h"

namespace rc::blas {

// A value with the dimensions of the run.
struct Operand : plugin::HostValue {
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
};

// The library and the threads of a device.
struct Machine {
  const Cblas& library;
  Team& team;
};

struct Call {
  const Op& op;
  const Machine& machine;
  std::array<Operand, kMaxInputs> inputs = {};
  Operand output = {};
  const rc_plugin_run& run;
  // Memory of each thread, as many floats or bytes as the op asked for.
  std::byte* scratch = nullptr;
  uint64_t scratch_stride = 0;
  std::atomic<bool> stopped{false};

  // Whether the caller wants the run to stop. Asked before each product, by any
  // thread.
  bool stops() {
    if (stopped.load(std::memory_order_relaxed)) return true;
    if (run.should_stop == nullptr || run.should_stop(run.user) == 0) {
      return false;
    }
    stopped = true;
    return true;
  }
  template <class T>
  T* scratch_of(int thread) const {
    return reinterpret_cast<T*>(scratch +
                                static_cast<uint64_t>(thread) * scratch_stride);
  }
};

}  // namespace rc::blas
