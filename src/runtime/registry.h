// The backends of the process and the choice among them.
//
// Thread-safe. Everything is initialised on first use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/backend_spec.h"
#include "runtime/device.h"
#include "runtime/search_progress.h"

namespace rc::runtime {

// Adds a plugin (see rc_plugin_register, rc_plugin_load).
void register_plugin(const rc_plugin& plugin);
void load_plugin(const std::string& path);

struct DeviceReport {
  rc_plugin_device_info info;  // of kind RC_DEVICE_OTHER if there is none
  std::string reason;          // why it is passed over; "" if it is not
  std::string quarantined;     // ops that are, a line each
};

struct BackendReport {
  std::string name;
  std::string description;
  bool built_in = false;
  std::string path;    // of the module; "" if built in or registered
  std::string reason;  // why it is not available; "" if it is
  std::vector<DeviceReport> devices;
};

struct Discovery {
  std::vector<BackendReport> backends;
  std::string automatic;  // what "auto" would choose, "cpu:0"
};

// Every backend that is built in, registered, or found as a module
// (librunciblebackend-*.so in RUNCIBLE_PLUGIN_PATH and with the library).
// Throws RC_E_CANCELLED.
Discovery discover(SearchProgress progress = {});

struct Selection {
  std::string spec;  // "auto", "cpu", "vulkan:1,cpu"; "" = default
  uint64_t required_memory =
      0;  // bytes; devices known to have less are skipped
  DeviceOptions device;
  // The devices that may be opened; empty: all.
  std::vector<SpecItem> allowed = {};
  SearchProgress progress = {};
};

struct Candidate {
  std::string id;  // "vulkan:0"
  bool chosen = false;
  std::string reason;  // why passed over; "" for the chosen
};

struct Selected {
  std::shared_ptr<Device> device;
  // The rest of the chain, as specs of one device each; "auto" ends with "cpu".
  std::vector<std::string> next;
  std::string spec;  // what was asked for, after RUNCIBLE_BACKEND and auto
  std::vector<Candidate> candidates;
  // Reasons why it is slower than requested: devices that came first but
  // failed, fewer threads. In the log, too.
  std::vector<std::string> warnings;
};

// Opens the first device of the chain that works. An empty spec takes
// RUNCIBLE_BACKEND, else "auto". Devices are shared: opening the same device
// with the same options again gives the same Device while it lives.
// "auto" chooses no software device if there is a CPU, and "reference" only if
// nothing else works. A CPU for which the system starts no threads is opened
// with one, the caller's.
// Throws RC_E_INVALID_ARGUMENT for a malformed spec and for options or
// environment variables that a device refuses, RC_E_NOT_FOUND for an unknown
// backend name when the chain ends without success, listing the known;
// RC_E_BACKEND_UNAVAILABLE with every candidate's reason; RC_E_CANCELLED.
Selected select(const Selection& selection);

// Throws RC_E_INVALID_ARGUMENT for options that are out of range.
void check(const DeviceOptions& options);

// Returns the chain: the configured one if `spec` is empty, else "auto".
std::string spec_or_default(const std::string& spec);

}  // namespace rc::runtime
