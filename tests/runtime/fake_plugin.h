// A plugin that a test controls: fake devices, and failures of every kind. Each
// has its own name and state; the programs it compiles do nothing.
#pragma once

#include <string>
#include <vector>

#include "runcible/plugin.h"

namespace rc::test {

struct FakeDevice {
  std::string name = "fake";
  rc_device_kind kind = RC_DEVICE_GPU_DISCRETE;
  uint64_t total_memory = 0;
  uint64_t free_memory = 0;
  std::string physical_id;
  int32_t numa_nodes = 0;
  rc_status open_status = RC_OK;
  rc_status info_status = RC_OK;
};

// The behaviour of a plugin, to be changed by the test at any time.
struct FakeState {
  std::vector<FakeDevice> devices;
  rc_status count_status = RC_OK;
  int32_t count_override = -1000;  // reported instead of the true number
  rc_status status = RC_OK;        // of create_*, compile, upload, run
  rc_status wait_status = RC_OK;
  bool unterminated_message = false;
  bool null_handles = false;
  bool write_handles_on_failure = false;
  bool throw_on_destroy = false;
  // The run lasts until it is asked to stop, or for ever.
  bool endless = false;
  bool deaf = false;
  int32_t unsupported_op = 0;
  rc_numa numa = -1;  // that the last device was opened with
  int opened = 0;
  int closed = 0;
  int alive = 0;  // devices, weights, buffers, compiled programs
};

// At most sixteen in a process.
struct FakePlugin {
  rc_plugin table;
  FakeState& state;
};
FakePlugin make_fake_plugin(const char* name);

}  // namespace rc::test
