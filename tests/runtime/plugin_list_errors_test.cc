// Tables of plugins that are refused, and the nearest that are taken.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "base/error.h"
#include "expect_error.h"
#include "plugin_list_util.h"
#include "runtime/plugin_list.h"

namespace rc::runtime {
namespace {

void expect_refused(const rc_plugin& table, rc_status status,
                    const std::string& message) {
  const Error error = error_of_adding(table);
  EXPECT_EQ(error.status(), status) << message;
  EXPECT_EQ(error.message(), message);
}

// Takes it out again.
void expect_taken(const rc_plugin& table) {
  const std::string name = table.name;
  const Error error = error_of_adding(table);
  EXPECT_EQ(error.status(), RC_OK) << error.message();
  EXPECT_NE(PluginList::instance().find(name), nullptr) << name;
  PluginList::instance().remove(name);
}

TEST(PluginListErrors, InvalidNamesAreRefused) {
  const std::string longest(64, 'n');
  const auto named = [](const std::string& name) {
    rc_plugin table = good_table();
    table.name = name.c_str();
    return table;
  };
  // The neighbours of the characters that a name may have, and reserved names.
  for (const std::string name : {"", "a`", "a{", "a/", "a:", "a@", "A", "Z",
                                 "a^", "a ", "auto", "gpu", "hip"}) {
    expect_refused(named(name), RC_E_INVALID_ARGUMENT,
                   "a plugin is called \"" + name +
                       "\"; a name is 1 to 64 lower case letters, digits and "
                       "'_', and not \"auto\", \"gpu\" or \"hip\"");
  }
  const std::string longer = longest + "n";
  expect_refused(named(longer), RC_E_INVALID_ARGUMENT,
                 "a plugin is called \"" + longest +
                     "\"; a name is 1 to 64 lower case letters, digits and "
                     "'_', and not \"auto\", \"gpu\" or \"hip\"");
  for (const std::string& name :
       {std::string("a"), std::string("z"), std::string("0"), std::string("9"),
        std::string("_"), std::string("auto_"), std::string("gpus"), longest}) {
    expect_taken(named(name));
  }
}

TEST(PluginListErrors, TooSmallTablesAreRefused) {
  rc_plugin table = good_table();
  for (const size_t size : {size_t{0}, offsetof(rc_plugin, name) - 1}) {
    table.struct_size = size;
    expect_refused(table, RC_E_INVALID_ARGUMENT,
                   "the table of a plugin has struct_size " +
                       std::to_string(size) + "; it should be " +
                       std::to_string(sizeof(rc_plugin)));
  }
  // The name is behind the end, as if there were none.
  table.struct_size = offsetof(rc_plugin, name);
  EXPECT_EQ(error_of_adding(table).message().find("a plugin is called \"\""),
            0u);
  table.struct_size = offsetof(rc_plugin, run);
  expect_refused(
      table, RC_E_INVALID_ARGUMENT,
      "the plugin good_table does not define the required function run");
  table.struct_size = offsetof(rc_plugin, wait);
  expect_taken(table);
}

TEST(PluginListErrors, OtherVersionsAreRefused) {
  rc_plugin table = good_table();
  table.abi_version = RC_PLUGIN_OLDEST_ABI_VERSION - 1;
  expect_refused(
      table, RC_E_ABI,
      "a plugin was built for version 1 of the plugin ABI; this library has "
      "version 4 and can use plugins from version 2 on; build the plugin "
      "again");
  table.abi_version = RC_PLUGIN_OLDEST_ABI_VERSION;
  expect_taken(table);
  table.abi_version = RC_PLUGIN_ABI_VERSION + 1;
  table.least_abi_version = RC_PLUGIN_ABI_VERSION;
  expect_taken(table);
  table.least_abi_version = RC_PLUGIN_ABI_VERSION + 1;
  expect_refused(
      table, RC_E_ABI,
      "a plugin needs version 5 of the plugin ABI at least; this library has "
      "version 4; use a newer library, or build the plugin with its headers");
}

TEST(PluginListErrors, EveryRequiredFunctionIsNamed) {
  const struct {
    const char* name;
    void (*remove)(rc_plugin& table);
  } cases[] = {
      {"device_count", [](rc_plugin& t) { t.device_count = nullptr; }},
      {"device_info", [](rc_plugin& t) { t.device_info = nullptr; }},
      {"open", [](rc_plugin& t) { t.open = nullptr; }},
      {"close", [](rc_plugin& t) { t.close = nullptr; }},
      {"op_supported", [](rc_plugin& t) { t.op_supported = nullptr; }},
      {"weight_bytes", [](rc_plugin& t) { t.weight_bytes = nullptr; }},
      {"create_weight", [](rc_plugin& t) { t.create_weight = nullptr; }},
      {"destroy_weight", [](rc_plugin& t) { t.destroy_weight = nullptr; }},
      {"create_buffer", [](rc_plugin& t) { t.create_buffer = nullptr; }},
      {"destroy_buffer", [](rc_plugin& t) { t.destroy_buffer = nullptr; }},
      {"upload", [](rc_plugin& t) { t.upload = nullptr; }},
      {"download", [](rc_plugin& t) { t.download = nullptr; }},
      {"compile", [](rc_plugin& t) { t.compile = nullptr; }},
      {"destroy_compiled", [](rc_plugin& t) { t.destroy_compiled = nullptr; }},
      {"run", [](rc_plugin& t) { t.run = nullptr; }},
  };
  for (const auto& c : cases) {
    rc_plugin table = good_table();
    c.remove(table);
    expect_refused(
        table, RC_E_INVALID_ARGUMENT,
        std::string(
            "the plugin good_table does not define the required function ") +
            c.name);
  }
  // The others may be absent.
  rc_plugin table = good_table();
  table.wait = nullptr;
  table.copy = nullptr;
  table.op_time = nullptr;
  table.map_weight = nullptr;
  expect_taken(table);
}

TEST(PluginListErrors, TakenNameErrorNamesItsOrigin) {
  rc_plugin table = good_table();
  table.name = "cpu";
  expect_refused(table, RC_E_INVALID_ARGUMENT,
                 "there is a backend called cpu already, built in");
  PluginList& list = PluginList::instance();
  table.name = "of_a_module";
  list.add(table, false, "/plugins/of_a_module.so");
  expect_refused(table, RC_E_INVALID_ARGUMENT,
                 "there is a backend called of_a_module already, from "
                 "/plugins/of_a_module.so");
  list.remove("of_a_module");
  table.name = "of_the_host";
  list.add(table, false, "");
  expect_refused(table, RC_E_INVALID_ARGUMENT,
                 "there is a backend called of_the_host already");
  list.remove("of_the_host");
  expect_taken(table);
}

}  // namespace
}  // namespace rc::runtime
