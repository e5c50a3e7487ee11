#include "base/error.h"

#include <cstring>
#include <new>

namespace rc {
namespace {

constexpr size_t kMessageBytes = 1024;
thread_local char t_message[kMessageBytes] = "";
thread_local int64_t t_retry_after_ms = -1;

}  // namespace

void fail(rc_status status, const char* message) {
  throw Error(status, message);
}

void fail_parts(rc_status status, const PartKind* kinds,
                const PartValue* values) {
  throw Error(status, cat_parts(kinds, values));
}

rc_status set_last_error(rc_status status, const char* message,
                         int64_t retry_after_ms) noexcept {
  t_retry_after_ms = retry_after_ms;
  size_t length = std::strlen(message);
  if (length >= kMessageBytes) {
    length = kMessageBytes - 1;
    // Don't cut a UTF-8 sequence in two.
    while (length > 0 && (message[length] & 0xC0) == 0x80) --length;
  }
  std::memmove(t_message, message, length);
  t_message[length] = '\0';
  return status;
}

const char* last_error_message() noexcept { return t_message; }
int64_t last_error_retry_after_ms() noexcept { return t_retry_after_ms; }

rc_status status_of_current_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return set_last_error(error.status(), error.what(), error.retry_after_ms());
  } catch (const std::bad_alloc&) {
    return set_last_error(RC_E_OUT_OF_MEMORY,
                          "out of memory: the host has no more to give; close "
                          "handles, or load a smaller model or context");
  } catch (const std::exception& error) {
    return set_last_error(RC_E_INTERNAL, error.what());
  } catch (...) {
    return set_last_error(RC_E_INTERNAL, "unknown exception");
  }
}

}  // namespace rc
