// Ops on tensors that a device lacks.
#include <cstring>
#include <string>

#include "runcible/plugin.h"
#include "tensor_util.h"

namespace rc::test {
namespace {

// A device with memory that computes nothing.
rc_status only_memory(rc_plugin_device*, const rc_plugin_op*,
                      const rc_plugin_value* const*, size_t, char* message) {
  std::strcpy(message, "it only remembers");
  return RC_E_UNSUPPORTED;
}

const rc_plugin* memory_plugin() {
  static const rc_plugin plugin = [] {
    rc_plugin table = {};
    table.struct_size = sizeof table;
    table.abi_version = RC_PLUGIN_ABI_VERSION;
    table.name = "memory";
    table.description = "memory alone";
    table.device_count = [](int32_t* count, char*) {
      *count = 1;
      return rc_status{RC_OK};
    };
    table.device_info = [](int32_t, rc_plugin_device_info* info, char*) {
      std::strcpy(info->name, "memory");
      info->kind = RC_DEVICE_OTHER;
      return rc_status{RC_OK};
    };
    table.open = [](int32_t, const rc_plugin_open_options*,
                    rc_plugin_device** device, char*) {
      static int state;
      *device = reinterpret_cast<rc_plugin_device*>(&state);
      return rc_status{RC_OK};
    };
    table.close = [](rc_plugin_device*) {};
    table.op_supported = only_memory;
    table.compile = [](rc_plugin_device*, const rc_plugin_program*,
                       rc_plugin_compiled**,
                       char*) { return rc_status{RC_E_UNSUPPORTED}; };
    table.destroy_compiled = [](rc_plugin_device*, rc_plugin_compiled*) {};
    table.run = [](rc_plugin_device*, rc_plugin_compiled*, const rc_plugin_run*,
                   char*) { return rc_status{RC_E_INTERNAL}; };
    return table;
  }();
  return &plugin;
}

TEST(Tensor, WhatADeviceLacksIsDoneOnTheCpu) {
  ASSERT_OK(rc_plugin_register(memory_plugin()));
  const Backend backend = open_backend("memory");
  const Tensor a = make(backend.get(), {2, 2}, {1, 2, 3, 4});
  rc_tensor *t = nullptr, *y = nullptr;
  ASSERT_OK(rc_tensor_transpose(a.get(), 0, 1, &t));
  const Tensor transposed(t);
  // Of a transposed second operand no copy is made.
  ASSERT_OK(rc_op_matmul(a.get(), t, &y));
  EXPECT_EQ(numbers_of(y), (std::vector<float>{5, 11, 11, 25}));
  rc_tensor_release(y);
  ASSERT_OK(rc_op_matmul(t, a.get(), &y));
  EXPECT_EQ(numbers_of(y), (std::vector<float>{10, 14, 14, 20}));
  rc_tensor_release(y);
  const char* json = nullptr;
  ASSERT_OK(rc_backend_explain(backend.get(), &json));
  for (const char* text : {"MATMUL", "COPY", "cpu:0", "it only remembers"}) {
    EXPECT_NE(std::string(json).find(text), std::string::npos) << json;
  }
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.strict = 1;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open("memory", &options, &opened));
  const Backend strict(opened);
  const Tensor b = make(opened, {2, 2}, {1, 2, 3, 4});
  EXPECT_FAILS(RC_E_UNSUPPORTED, rc_op_matmul(b.get(), b.get(), &y), "MATMUL",
               "it only remembers", "strict");
}

}  // namespace
}  // namespace rc::test
