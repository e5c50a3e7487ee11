#include "runcible/base.h"

#include <cstdlib>

#include "api/guard.h"
#include "base/log.h"

#define RC_TEXT_(x) #x
#define RC_TEXT(x) RC_TEXT_(x)
#define RC_VERSION_TEXT     \
  RC_TEXT(RC_VERSION_MAJOR) \
  "." RC_TEXT(RC_VERSION_MINOR) "." RC_TEXT(RC_VERSION_PATCH)

#if defined(__clang__)
#define RC_COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define RC_COMPILER "gcc " __VERSION__
#else
#define RC_COMPILER "unknown"
#endif

// As base/threads.h has it.
#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
#define RC_BUILD_THREADS "false"
#else
#define RC_BUILD_THREADS "true"
#endif

const char* rc_status_name(rc_status status) {
  switch (status) {
#define RC_CASE(name) \
  case name:          \
    return #name
    RC_CASE(RC_OK);
    RC_CASE(RC_E_INVALID_ARGUMENT);
    RC_CASE(RC_E_OUT_OF_MEMORY);
    RC_CASE(RC_E_NOT_FOUND);
    RC_CASE(RC_E_IO);
    RC_CASE(RC_E_FORMAT);
    RC_CASE(RC_E_UNSUPPORTED);
    RC_CASE(RC_E_BACKEND_UNAVAILABLE);
    RC_CASE(RC_E_DEVICE);
    RC_CASE(RC_E_DEVICE_LOST);
    RC_CASE(RC_E_DEVICE_MEMORY);
    RC_CASE(RC_E_TIMEOUT);
    RC_CASE(RC_E_CANCELLED);
    RC_CASE(RC_E_DEADLINE);
    RC_CASE(RC_E_CONTEXT_FULL);
    RC_CASE(RC_E_BUSY);
    RC_CASE(RC_E_QUOTA);
    RC_CASE(RC_E_CLOSED);
    RC_CASE(RC_E_ABI);
    RC_CASE(RC_E_INTERNAL);
#undef RC_CASE
  }
  return "unknown status";
}

const char* rc_error_message(void) { return rc::last_error_message(); }

int64_t rc_error_retry_after_ms(void) {
  return rc::last_error_retry_after_ms();
}

uint32_t rc_version(void) {
  return RC_VERSION_MAJOR * 1000000 + RC_VERSION_MINOR * 1000 +
         RC_VERSION_PATCH;
}

const char* rc_version_string(void) { return RC_VERSION_TEXT; }

rc_status rc_abi_check(uint32_t major, uint32_t minor) {
  return rc::api::guard([&] {
    // In variables, or the compiler sees that 0 is never greater than 0.
    const uint32_t own_major = RC_VERSION_MAJOR, own_minor = RC_VERSION_MINOR;
    const bool fits =
        major == own_major &&
        (own_major == 0 ? minor == own_minor : minor <= own_minor);
    if (!fits) {
      rc::fail(RC_E_ABI, "the program was built for runcible ", major, ".",
               minor,
               ", but the library is " RC_VERSION_TEXT
               "; build it again with the headers of this library, or "
               "install the library that it was built for");
    }
  });
}

const char* rc_build_info(void) {
  return "{\"version\":\"" RC_VERSION_TEXT "\",\"compiler\":\"" RC_COMPILER
         "\",\"build_type\":\"" RC_BUILD_TYPE
         "\",\"backends\":[" RC_BUILD_BACKENDS
         "],\"instruction_sets\":[" RC_BUILD_INSTRUCTION_SETS
         "],\"threads\":" RC_BUILD_THREADS "}";
}

void rc_free(void* memory) { std::free(memory); }

void rc_log_set(rc_log_callback callback, void* user, rc_log_level level) {
  // It has no status: a failure (there is none but a broken mutex) must only
  // not get out.
  static_cast<void>(
      rc::api::guard([&] { rc::set_log(callback, user, level); }));
}
