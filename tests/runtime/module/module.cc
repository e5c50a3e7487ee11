// A module for the tests: a fake plugin, named by the build. Its programs do
// nothing, so it says that it has no ops, unless it is to be found out.
#include "fake_plugin.h"

extern "C" RC_API const rc_plugin* rc_plugin_entry(void) {
  static const rc::test::FakePlugin plugin = [] {
    rc::test::FakePlugin made = rc::test::make_fake_plugin(RC_MODULE_NAME);
    made.state.devices.resize(1);
    made.state.devices[0].kind = RC_MODULE_KIND;
#if !RC_MODULE_LIES
    made.table.op_supported = [](rc_plugin_device*, const rc_plugin_op*,
                                 const rc_plugin_value* const*, size_t,
                                 char*) -> rc_status {
      return RC_E_UNSUPPORTED;
    };
#endif
    return made;
  }();
  return &plugin.table;
}
