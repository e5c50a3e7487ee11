// The kernels of a device that failed its self-test on this machine: kept
// between processes in the user's cache folder, so that a broken driver is not
// used again.
//
// A record is of one device, by the name that its driver gives it, and holds
// until the driver's version or the module changes, or forget() is called. A
// record that cannot be read counts as none and is removed. Any thread; of two
// processes that add to a record at once one may be lost, and its failure is
// found again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runcible/plugin.h"
#include "runtime/plugin_list.h"

namespace rc::runtime {

class Quarantine {
 public:
  Quarantine(std::string_view backend, const std::string& module,
             const rc_plugin_device_info& info);

  // The whole device, for Entry.subject.
  static constexpr std::string_view kDevice = "device";

  struct Entry {
    std::string subject;  // kDevice, or what the self-test calls a kind of op
    std::string reason;   // one line
    int64_t until = 0;    // seconds since 1970; 0: as long as the record holds
  };
  // None where the quarantine is ignored (library.quarantine).
  std::vector<Entry> entries() const;
  // "" if the subject is not quarantined.
  std::string reason_of(std::string_view subject) const;

  // `lasting`: a failure that cannot be the doing of a busy machine; others
  // count for an hour.
  void add(std::string_view subject, std::string_view reason, bool lasting);
  // Whether there was a record.
  bool forget();

 private:
  std::vector<Entry> read() const;
  std::string key_;
  std::string circumstances_;  // one line
};

// Whether quarantined devices and modules are passed over.
bool quarantine_counts();

// Why a device of a module must not be opened; "" if it may be.
std::string quarantine_reason(const PluginEntry& plugin,
                              const rc_plugin_device_info& info);

// The ops of a device that are quarantined, a line each; "" if there are none.
std::string quarantined_ops(const PluginEntry& plugin,
                            const rc_plugin_device_info& info);

// Lifts the quarantine of a device ("vulkan:0"), of all devices of a backend
// and of modules of that name that crashed ("vulkan"), or of everything ("").
// Gives the number of devices and modules that it was lifted from. Throws
// RC_E_INVALID_ARGUMENT for a malformed name, RC_E_NOT_FOUND for one that no
// backend or module has.
int forget_quarantine(const std::string& name);

}  // namespace rc::runtime
