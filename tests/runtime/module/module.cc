// A module for the tests: a fake plugin, named by the build. Its programs do
// nothing, so it says that it has no ops, unless it is to be found out: then
// its driver has the version RUNCIBLE_TEST_DRIVER, and adds a byte to the file
// RUNCIBLE_TEST_OPENED when it is opened.
#include <cstdio>
#include <cstdlib>

#include "fake_plugin.h"

#if RC_MODULE_LIES
static rc_plugin g_inner;

static rc_status describe(int32_t index, rc_plugin_device_info* info,
                          char* message) {
  const rc_status status = g_inner.device_info(index, info, message);
  const char* driver = std::getenv("RUNCIBLE_TEST_DRIVER");
  std::snprintf(info->driver, sizeof info->driver, "%s",
                driver == nullptr ? "" : driver);
  return status;
}

static rc_status open_counted(int32_t index,
                              const rc_plugin_open_options* options,
                              rc_plugin_device** device, char* message) {
  const char* name = std::getenv("RUNCIBLE_TEST_OPENED");
  if (std::FILE* file = name ? std::fopen(name, "a") : nullptr) {
    std::fputc('x', file);
    std::fclose(file);
  }
  return g_inner.open(index, options, device, message);
}
#endif

extern "C" RC_API const rc_plugin* rc_plugin_entry(void) {
  static const rc::test::FakePlugin plugin = [] {
    rc::test::FakePlugin made = rc::test::make_fake_plugin(RC_MODULE_NAME);
    made.state.devices.resize(1);
    made.state.devices[0].kind = RC_MODULE_KIND;
#if RC_MODULE_LIES
    g_inner = made.table;
    made.table.device_info = describe;
    made.table.open = open_counted;
#else
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
