// A module whose driver hangs when it is asked for the devices, after closing
// the output that a probe listens to.
#include <unistd.h>

#include "fake_plugin.h"

extern "C" RC_API const rc_plugin* rc_plugin_entry(void) {
  static const rc::test::FakePlugin plugin = [] {
    rc::test::FakePlugin made = rc::test::make_fake_plugin("hang");
    made.table.device_count = [](int32_t*, char*) -> rc_status {
      close(STDOUT_FILENO);
      while (true) pause();
    };
    return made;
  }();
  return &plugin.table;
}
