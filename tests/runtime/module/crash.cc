// A module whose driver crashes when it is asked for the devices, after adding
// a byte to the file RUNCIBLE_TEST_CRASHES.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "fake_plugin.h"

extern "C" RC_API const rc_plugin* rc_plugin_entry(void) {
  static const rc::test::FakePlugin plugin = [] {
    rc::test::FakePlugin made = rc::test::make_fake_plugin("crash");
    made.table.device_count = [](int32_t*, char*) -> rc_status {
      const char* name = std::getenv("RUNCIBLE_TEST_CRASHES");
      if (std::FILE* file = name ? std::fopen(name, "a") : nullptr) {
        std::fputc('x', file);
        std::fclose(file);
      }
      std::signal(SIGSEGV, SIG_DFL);
      std::raise(SIGSEGV);
      return RC_OK;
    };
    return made;
  }();
  return &plugin.table;
}
