// Errors inside the library: a status for the C ABI and a message for people.
//
// Code below src/api/ throws rc::Error; the C ABI and the root of every thread
// catch everything (see src/api/guard.h).
#pragma once

#include <exception>
#include <locale>
#include <sstream>
#include <string>
#include <utility>

#include "runcible/base.h"

namespace rc {

class Error : public std::exception {
 public:
  Error(rc_status status, std::string message)
      : status_(status), message_(std::move(message)) {}
  rc_status status() const { return status_; }
  const std::string& message() const { return message_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  rc_status status_;
  std::string message_;
};

// The parts, one after the other, as text. Numbers look the same whatever the
// program's locale is.
template <class... Parts>
std::string cat(const Parts&... parts) {
  std::ostringstream out;
  // Without this a stream swallows std::bad_alloc and cuts the text.
  out.exceptions(std::ios_base::badbit);
  out.imbue(std::locale::classic());
  (out << ... << parts);
  return std::move(out).str();
}

template <class... Parts>
[[noreturn]] void fail(rc_status status, const Parts&... parts) {
  throw Error(status, cat(parts...));
}

// Sets the calling thread's message (see rc_error_message) and returns status.
// Never allocates, so that it can report a failed allocation.
rc_status set_last_error(rc_status status, const char* message) noexcept;
const char* last_error_message() noexcept;

// Turns the exception being handled into its status and stores its message.
// To be called in a catch block only.
rc_status status_of_current_exception() noexcept;

}  // namespace rc
