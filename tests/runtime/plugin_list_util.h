// Plugins to register, for tests of the list of plugins.
#pragma once

#include "base/error.h"
#include "expect_error.h"
#include "fake_plugin.h"
#include "runtime/registry.h"

namespace rc::runtime {

// The error that registering the plugin throws; one with RC_OK if it throws
// none.
inline Error error_of_adding(const rc_plugin& table) {
  return test::error_of([&] { register_plugin(table); });
}

// A table that is good but for what a test does to it.
inline rc_plugin good_table() {
  static const rc_plugin table = test::make_fake_plugin("good_table").table;
  return table;
}

}  // namespace rc::runtime
