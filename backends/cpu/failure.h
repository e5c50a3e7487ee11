// Errors inside the backend: thrown, and turned into a status and a message at
// the functions of the plugin's table.
#pragma once

#include <cstdarg>
#include <exception>

#include "runcible/plugin.h"

namespace rc::cpu {

class Failure : public std::exception {
 public:
  Failure(rc_status status, const char* format, va_list arguments);
  rc_status status() const { return status_; }
  const char* what() const noexcept override { return message_; }

 private:
  rc_status status_;
  char message_[RC_PLUGIN_MESSAGE_BYTES];
};

// As printf; cut at RC_PLUGIN_MESSAGE_BYTES. Allocates nothing but the
// exception.
[[noreturn]] void fail(rc_status status, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

// The status of the exception being handled, its message written to `message`.
// To be called in a catch block only.
rc_status status_of_exception(char* message) noexcept;

}  // namespace rc::cpu
