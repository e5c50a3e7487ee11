// A backend "faulty" around another backend's table: the n-th call of the
// library to it fails as a test wants, or a run does not end. Everything else
// is the other backend's doing.
#pragma once

#include <atomic>
#include <cstdint>

#include "runcible/plugin.h"

namespace rc::test {

struct Injector {
  // The calls are counted from 1; 0: nothing fails.
  std::atomic<int64_t> fail_at{0};
  // The status of the failing call; RC_E_DEVICE_LOST: and of all later ones
  // until the device is opened again.
  std::atomic<rc_status> status{RC_E_DEVICE};
  // Instead of failing, the first run from that call on never ends.
  std::atomic<bool> hang{false};

  std::atomic<int64_t> calls{0};       // so far
  std::atomic<bool> happened{false};   // the fault
  std::atomic<const char*> where{""};  // the function that failed

  void arm(int64_t at, rc_status with, bool hanging);
};

// Registers the backend at the first call; later ones may change what it wraps
// while nothing of it is open.
Injector& inject_faults_into(const rc_plugin& inner);

}  // namespace rc::test
