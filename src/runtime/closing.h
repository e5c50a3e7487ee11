// Closing devices on separate threads: a driver may take a tenth of a second
// for it, threads of the CPU end only when others leave them a processor, and
// the last owner of a device may run an event loop.
#pragma once

#include "runcible/plugin.h"

namespace rc::runtime {

// Closes the device on a separate thread, or on the calling thread if none can
// be started. A plugin may throw. The exit of the process waits a few seconds
// for closings under way.
void close_device(const rc_plugin& plugin, rc_plugin_device* device) noexcept;

// Waits, a few seconds at most, until no device of the plugin is being closed:
// what is opened next may need its memory.
void finish_closing(const rc_plugin& plugin) noexcept;

// Closes it on the calling thread.
void close_device_here(const rc_plugin& plugin,
                       rc_plugin_device* device) noexcept;

}  // namespace rc::runtime
