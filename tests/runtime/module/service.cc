// A module whose driver leaves a process behind, which keeps open the output
// that a probe listens to for longer than that waits.
#include <unistd.h>

#include "fake_plugin.h"

extern "C" RC_API const rc_plugin* rc_plugin_entry(void) {
  static const rc::test::FakePlugin plugin = [] {
    rc::test::FakePlugin made = rc::test::make_fake_plugin("service");
    made.table.device_count = [](int32_t* count, char*) -> rc_status {
      if (fork() == 0) {
        sleep(40);
        _exit(0);
      }
      *count = 0;
      return RC_OK;
    };
    return made;
  }();
  return &plugin.table;
}
