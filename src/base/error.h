// Errors inside the library: a status for the C ABI and a message for people.
//
// Code below src/api/ throws rc::Error; the C ABI and the root of every thread
// catch everything (see src/api/guard.h).
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "base/cat.h"
#include "runcible/base.h"

namespace rc {

class Error : public std::exception {
 public:
  Error(rc_status status, std::string message)
      : status_(status), message_(std::move(message)) {}
  rc_status status() const { return status_; }
  const std::string& message() const { return message_; }
  // When to try again, in milliseconds; -1: unknown.
  int64_t retry_after_ms() const { return retry_after_ms_; }
  void set_retry_after_ms(int64_t ms) { retry_after_ms_ = ms; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  rc_status status_;
  std::string message_;
  int64_t retry_after_ms_ = -1;
};

// Throws an Error whose message is of these parts (base/cat.h).
[[noreturn]] void fail(rc_status status, const char* message);
[[noreturn]] void fail_parts(rc_status status, const PartKind* kinds,
                             const PartValue* values);
template <class... Parts>
[[noreturn, gnu::always_inline]] inline void fail(rc_status status,
                                                  const Parts&... parts) {
  const PartValue values[] = {PartValue(parts)...};
  fail_parts(status, kPartKinds<part_kind<Parts>()...>, values);
}

// Sets the calling thread's message (see rc_error_message) and returns status.
// Never allocates, so that it can report a failed allocation.
rc_status set_last_error(rc_status status, const char* message,
                         int64_t retry_after_ms = -1) noexcept;
const char* last_error_message() noexcept;
int64_t last_error_retry_after_ms() noexcept;

// Turns the exception being handled into its status and stores its message.
// To be called in a catch block only.
rc_status status_of_current_exception() noexcept;

}  // namespace rc
