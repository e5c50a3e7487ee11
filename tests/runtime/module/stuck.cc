// A module whose driver never answers when it is asked for the devices; it
// makes the file RUNCIBLE_TEST_STUCK when it gets there.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "fake_plugin.h"

extern "C" RC_API const rc_plugin* rc_plugin_entry(void) {
  static const rc::test::FakePlugin plugin = [] {
    rc::test::FakePlugin made = rc::test::make_fake_plugin("stuck");
    made.table.device_count = [](int32_t*, char*) -> rc_status {
      const char* name = std::getenv("RUNCIBLE_TEST_STUCK");
      if (std::FILE* file = name ? std::fopen(name, "w") : nullptr) {
        std::fprintf(file, "%d", static_cast<int>(getpid()));
        std::fclose(file);
      }
      while (true) pause();
    };
    return made;
  }();
  return &plugin.table;
}
