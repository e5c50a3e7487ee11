#include "runtime/plugin_list.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "expect_error.h"
#include "plugin_list_util.h"
#include "runtime/registry.h"

namespace rc::runtime {
namespace {

namespace fs = std::filesystem;

Error error_of_loading(const std::string& path) {
  return test::error_of([&] { load_plugin(path); });
}

TEST(PluginList, ChecksTheName) {
  for (const char* name :
       {static_cast<const char*>(nullptr), "", "Big", "a-b", "a b", "auto",
        "gpu", "hip", "a:0", "a,b", "caf\xc3\xa9",
        "a_name_that_is_longer_than_the_sixty_four_bytes_that_a_name_may_have_"
        "here"}) {
    rc_plugin table = good_table();
    table.name = name;
    EXPECT_EQ(error_of_adding(table).status(), RC_E_INVALID_ARGUMENT)
        << (name == nullptr ? "NULL" : name);
  }
}

TEST(PluginList, ChecksVersionAndSize) {
  rc_plugin table = good_table();
  table.abi_version = 1;
  EXPECT_EQ(error_of_adding(table).status(), RC_E_ABI);
  table = good_table();
  table.least_abi_version = RC_PLUGIN_ABI_VERSION + 1;
  const Error error = error_of_adding(table);
  EXPECT_EQ(error.status(), RC_E_ABI);
  EXPECT_NE(error.message().find("newer library"), std::string::npos);
  table = good_table();
  for (size_t size : {size_t{0}, size_t{8}, offsetof(rc_plugin, name),
                      offsetof(rc_plugin, run)}) {
    table.struct_size = size;
    EXPECT_EQ(error_of_adding(table).status(), RC_E_INVALID_ARGUMENT) << size;
  }
}

TEST(PluginList, NamesTheMissingFunction) {
  rc_plugin table = good_table();
  table.run = nullptr;
  const Error error = error_of_adding(table);
  EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
  EXPECT_NE(error.message().find("run"), std::string::npos);
}

TEST(PluginList, TakesTablesOfOlderAndNewerHeaders) {
  struct Newer {
    rc_plugin table;
    void* more[4];
  } newer = {test::make_fake_plugin("newer").table, {}};
  newer.table.struct_size = sizeof newer;
  register_plugin(newer.table);
  EXPECT_NE(PluginList::instance().find("newer"), nullptr);

  // Memory behind an older table is not read.
  rc_plugin older = test::make_fake_plugin("older").table;
  older.struct_size = offsetof(rc_plugin, copy);
  older.copy = reinterpret_cast<decltype(older.copy)>(0x10);
  register_plugin(older);
  const PluginEntry* entry = PluginList::instance().find("older");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->table.copy, nullptr);
}

TEST(PluginList, RefusesATakenNameAndCopiesTheTable) {
  {
    std::string name = "copied";
    rc_plugin table = test::make_fake_plugin(name.c_str()).table;
    register_plugin(table);
    EXPECT_EQ(error_of_adding(table).status(), RC_E_INVALID_ARGUMENT);
    table.name = "reference";
    EXPECT_EQ(error_of_adding(table).status(), RC_E_INVALID_ARGUMENT);
    table = {};
    name = "changed";
  }
  const PluginEntry* entry = PluginList::instance().find("copied");
  ASSERT_NE(entry, nullptr);
  EXPECT_STREQ(entry->table.name, "copied");
  EXPECT_NE(entry->table.open, nullptr);
}

TEST(PluginList, ReplacesARemovedPlugin) {
  PluginList& list = PluginList::instance();
  const rc_plugin table = test::make_fake_plugin("brief").table;
  register_plugin(table);
  const PluginEntry* first = list.find("brief");
  ASSERT_NE(first, nullptr);
  list.remove("brief");
  list.remove("brief");
  EXPECT_EQ(list.find("brief"), nullptr);
  for (const PluginEntry* entry : list.entries()) {
    EXPECT_NE(entry->name, "brief");
  }
  // Devices that are open know their table.
  EXPECT_EQ(list.entry_of(first->table), first);
  EXPECT_EQ(list.entry_of(table), nullptr);
  register_plugin(table);
  const PluginEntry* second = list.find("brief");
  ASSERT_NE(second, nullptr);
  EXPECT_NE(second, first);
  EXPECT_EQ(list.entry_of(second->table), second);
}

TEST(PluginList, ReportsModulesThatCannotBeLoaded) {
  Error error = error_of_loading("/nonexistent/module.so");
  EXPECT_EQ(error.status(), RC_E_IO);
  EXPECT_NE(error.message().find("/nonexistent/module.so"), std::string::npos);
  EXPECT_EQ(error_of_loading(RC_MODULE_WITHOUT_ENTRY).status(), RC_E_FORMAT);
}

TEST(PluginList, LoadsAModuleOnce) {
  EXPECT_EQ(error_of_loading(RC_MODULE).status(), RC_OK);
  const PluginEntry* entry = PluginList::instance().find("module");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->path, RC_MODULE);
  EXPECT_FALSE(entry->built_in);
  EXPECT_EQ(error_of_loading(RC_MODULE).status(), RC_E_INVALID_ARGUMENT);
}

TEST(PluginList, FindsModulesInThePluginPath) {
  const fs::path folder = fs::path(testing::TempDir()) / "runcible-modules";
  fs::remove_all(folder);
  fs::create_directories(folder);
  fs::copy(RC_MODULE_FOUND, folder / "librunciblebackend-found.so");
  std::ofstream(folder / "librunciblebackend-broken.so") << "no module";
  std::ofstream(folder / "libother.so") << "no module either";
  std::ofstream(folder / "librunciblebackend-.so") << "no name";
  setenv("RUNCIBLE_PLUGIN_PATH", ("/nonexistent::" + folder.string()).c_str(),
         1);
  bool found = false, broken = false;
  for (int i = 0; i < 2; ++i) {
    found = broken = false;
    for (const BackendReport& backend : discover().backends) {
      if (backend.name == "found") {
        found = true;
        EXPECT_EQ(backend.reason, "");
        EXPECT_EQ(fs::path(backend.path).filename(),
                  "librunciblebackend-found.so");
        EXPECT_EQ(backend.devices.size(), 1u);
      }
      if (backend.name == "broken") {
        broken = true;
        EXPECT_NE(backend.reason, "");
      }
      EXPECT_NE(backend.name, "");
    }
    EXPECT_TRUE(found);
    EXPECT_TRUE(broken);
  }
  // A module that cannot be loaded has its reason in the choice.
  const Selected selected = select({"broken,found", 0, {}});
  EXPECT_EQ(selected.device->id(), "found:0");
  EXPECT_EQ(selected.candidates[0].id, "broken");
  unsetenv("RUNCIBLE_PLUGIN_PATH");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace rc::runtime
