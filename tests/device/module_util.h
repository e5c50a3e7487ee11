// Modules of devices that a machine may not have.
#pragma once

#include <string>

#include "runcible/plugin.h"
#include "temporary.h"

namespace rc::test {

// Why the backend has no device; "" if it has one.
std::string why_no_device(const std::string& backend);

// To be the first line of a test that needs a device.
#define RC_NEEDS_DEVICE(backend)                                      \
  if (const std::string why = why_no_device(backend); !why.empty()) { \
    GTEST_SKIP() << "no device of " << (backend) << ": " << why;      \
  }

// The table of a copy of the module, in the folder. It is another module to the
// system: nothing of it has been loaded or found yet. NULL if it is no module.
const rc_plugin* fresh_table(const char* module, const TemporaryFolder& folder);

// Waits until all unused devices of the backend are closed.
void wait_until_closed(const char* backend);

// A backend that refuses each of these values of the variable, which it reads
// when a device is opened, with a message that names the variable.
void expect_refused(const char* backend, const char* variable,
                    std::initializer_list<const char*> values);

// Checks a run with profiling: every op has its time, none before the one
// before it began, and no more are reported than there is room for.
void expect_times_of_ops(const std::string& backend);

}  // namespace rc::test
