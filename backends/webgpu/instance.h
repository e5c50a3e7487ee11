// The adapters of the process: what WebGPU computes on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runcible/plugin.h"
#include "webgpu/library.h"

namespace rc::webgpu {

// An adapter, described; a new one is requested for each device.
struct Found {
  abi::AdapterOptions options;
  std::string name;    // of the device
  std::string driver;  // of the interface below, and its version
  uint32_t kind;
  std::string features;
  bool f16;
  bool computes_nothing;
};

// Asked for at the first call that succeeds. Throws RC_E_BACKEND_UNAVAILABLE if
// there is no implementation of WebGPU or no adapter.
const std::vector<Found>& adapters();
// Throws RC_E_NOT_FOUND.
const Found& adapter(int index);

// Throws RC_E_BACKEND_UNAVAILABLE if it is there no more.
AdapterHandle request(const Found& found);

// Calls the callbacks that are due. Under the lock.
void process_events();

// Processes events until `done` says so. Not under the lock.
template <class Done>
void process_until(Done done) {
  for (int looks = 0;; ++looks) {
    {
      const Lock lock;
      if (done()) return;
      process_events();
      if (done()) return;
    }
    pause(looks);
  }
}

void describe(const Found& found, rc_plugin_device_info* info);

}  // namespace rc::webgpu
