// A module whose driver crashes when it is asked for the devices.
#include <csignal>

#include "fake_plugin.h"

extern "C" RC_API const rc_plugin* rc_plugin_entry(void) {
  static const rc::test::FakePlugin plugin = [] {
    rc::test::FakePlugin made = rc::test::make_fake_plugin("crash");
    made.table.device_count = [](int32_t*, char*) -> rc_status {
      std::signal(SIGSEGV, SIG_DFL);
      std::raise(SIGSEGV);
      return RC_OK;
    };
    return made;
  }();
  return &plugin.table;
}
