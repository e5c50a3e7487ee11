#include "cpu/failure.h"

#include <cstdio>
#include <new>

#include "base/error.h"

namespace rc::cpu {

Failure::Failure(rc_status status, const char* format, va_list arguments)
    : status_(status) {
  std::vsnprintf(message_, sizeof(message_), format, arguments);
}

void fail(rc_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Failure failure(status, format, arguments);
  va_end(arguments);
  throw failure;
}

rc_status status_of_exception(char* message) noexcept {
  const auto write = [&](const char* text) {
    std::snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "%s", text);
  };
  try {
    throw;
  } catch (const Failure& failure) {
    write(failure.what());
    return failure.status();
  } catch (const Error& error) {
    write(error.what());
    return error.status();
  } catch (const std::bad_alloc&) {
    write("out of memory");
    return RC_E_OUT_OF_MEMORY;
  } catch (const std::exception& exception) {
    write(exception.what());
    return RC_E_INTERNAL;
  } catch (...) {
    write("unknown exception");
    return RC_E_INTERNAL;
  }
}

}  // namespace rc::cpu
