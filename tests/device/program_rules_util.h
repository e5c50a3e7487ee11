// Programs that break the rules of plugin.h, given to a backend directly.
#pragma once

#include "runcible/plugin.h"

namespace rc::test {

// A program that is sound compiles, and each of many that are not is a status
// and a message; the device goes on.
void expect_programs_are_checked(const rc_plugin& plugin,
                                 rc_plugin_device* device);

}  // namespace rc::test
