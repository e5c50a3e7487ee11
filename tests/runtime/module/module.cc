// A module for the tests: a fake plugin, named by the build.
#include "fake_plugin.h"

extern "C" RC_API const rc_plugin* rc_plugin_entry(void) {
  static const rc::test::FakePlugin plugin = [] {
    rc::test::FakePlugin made = rc::test::make_fake_plugin(RC_MODULE_NAME);
    made.state.devices.resize(1);
    made.state.devices[0].kind = RC_DEVICE_OTHER;
    return made;
  }();
  return &plugin.table;
}
