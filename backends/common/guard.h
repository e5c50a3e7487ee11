// Guards that the tables of plugins share: no exception leaves a plugin, and
// the host's arguments are checked before they are used.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <span>
#include <stdexcept>

#include "base/error.h"
#include "runcible/plugin.h"

namespace rc::plugin {

// Writes the text, as far as it fits, into a message of
// RC_PLUGIN_MESSAGE_BYTES, and returns the status.
inline rc_status report(rc_status status, const char* text, char* message) {
  std::snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "%s", text);
  return status;
}

// Runs the function; what it throws becomes a status and a message.
template <class Function>
rc_status guarded(char* message, Function function) noexcept {
  try {
    function();
    return RC_OK;
  } catch (const Error& error) {
    return report(error.status(), error.what(), message);
  } catch (const std::bad_alloc&) {
    return report(RC_E_OUT_OF_MEMORY, "out of memory", message);
  } catch (const std::length_error&) {
    return report(RC_E_OUT_OF_MEMORY, "more memory than can be addressed",
                  message);
  } catch (const std::exception& error) {
    return report(RC_E_INTERNAL, error.what(), message);
  } catch (...) {
    return report(RC_E_INTERNAL, "an exception of an unknown type", message);
  }
}

// Throws RC_E_INVALID_ARGUMENT unless the range lies within the buffer.
inline void check_range(uint64_t buffer_bytes, uint64_t offset,
                        uint64_t bytes) {
  if (offset > buffer_bytes || bytes > buffer_bytes - offset) {
    fail(RC_E_INVALID_ARGUMENT, bytes, " bytes at ", offset, " of a buffer of ",
         buffer_bytes, " bytes");
  }
}

// Fills a struct of a caller whose header may be older: as much of it as there
// is.
template <class T>
void fill(T* target, T filled) {
  filled.struct_size = target->struct_size;
  std::memcpy(target, &filled, std::min(target->struct_size, sizeof filled));
}

// For op_time: the i-th of the times.
inline void give_op_time(std::span<const rc_plugin_op_time> times, size_t i,
                         rc_plugin_op_time* time) {
  if (i >= times.size()) {
    fail(RC_E_NOT_FOUND, "there are ", times.size(), " times");
  }
  fill(time, times[i]);
}

}  // namespace rc::plugin
