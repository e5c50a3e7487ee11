#include "runtime/module_probe.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "runtime/plugin_list.h"
#include "runtime/registry.h"
#include "temporary.h"

namespace rc::test {
namespace {

namespace fs = std::filesystem;
using runtime::BackendReport;
using runtime::Candidate;
using runtime::discover;
using runtime::load_plugin;
using runtime::PluginList;
using runtime::probe_module;
using runtime::select;
using runtime::Selected;

class ModuleProbe : public testing::Test {
 protected:
  size_t remembered() const {
    std::error_code none;
    const fs::directory_iterator files(cache_ / "runcible", none);
    return static_cast<size_t>(std::distance(fs::begin(files), fs::end(files)));
  }
  const TemporaryFolder folder_;
  const fs::path cache_ = folder_.path() / "cache";
  const TemporaryVariable variable_{"XDG_CACHE_HOME", cache_.string()};
};

TEST_F(ModuleProbe, RemembersASuccess) {
  EXPECT_EQ(probe_module(RC_MODULE_FOUND).reason, "");
  EXPECT_EQ(remembered(), 1u);
  EXPECT_EQ(probe_module(RC_MODULE_FOUND).reason, "");
  EXPECT_EQ(remembered(), 1u);
}

TEST_F(ModuleProbe, IgnoresModulesThatAreNoPlugins) {
  EXPECT_EQ(probe_module(RC_MODULE_WITHOUT_ENTRY).reason, "");
  EXPECT_EQ(probe_module("/nonexistent/module.so").reason, "");
}

// A crash is a reason, and is found once as long as nothing changes.
TEST_F(ModuleProbe, CrashIsRememberedUntilSomethingChanges) {
  const fs::path crashes = folder_.path() / "crashes";
  const TemporaryVariable count("RUNCIBLE_TEST_CRASHES", crashes.string());
  const auto expect_reason = [] {
    const std::string reason = probe_module(RC_MODULE_CRASH).reason;
    EXPECT_NE(reason.find("crashed when asked for its devices (signal 11"),
              std::string::npos)
        << reason;
    EXPECT_NE(reason.find(RC_MODULE_CRASH), std::string::npos) << reason;
    return reason;
  };
  EXPECT_EQ(expect_reason().find("tried again"), std::string::npos);
  EXPECT_EQ(fs::file_size(crashes), 1u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_NE(expect_reason().find("tried again"), std::string::npos);
    EXPECT_EQ(fs::file_size(crashes), 1u);
  }
  {
    const TemporaryVariable drivers("VK_DRIVER_FILES", "/nonexistent");
    expect_reason();
    EXPECT_EQ(fs::file_size(crashes), 2u);
  }
  expect_reason();
  EXPECT_EQ(fs::file_size(crashes), 3u);
  // An old failure, and one from the future, may be no more.
  for (const int seconds : {-7200, 7200}) {
    const fs::path file = fs::directory_iterator(cache_ / "runcible")->path();
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    std::string fact = text.str();
    const size_t at = fact.rfind("failed ") + 7;
    const size_t length = fact.find(' ', at) - at;
    const long long when = std::stoll(fact.substr(at, length));
    fact.replace(at, length, std::to_string(when + seconds));
    std::ofstream(file, std::ios::trunc) << fact;
    const auto before = fs::file_size(crashes);
    expect_reason();
    EXPECT_EQ(fs::file_size(crashes), before + 1);
  }
}

TEST_F(ModuleProbe, HangIsReported) {
  const std::string reason = probe_module(RC_MODULE_HANG).reason;
  EXPECT_NE(reason.find("it did not exit"), std::string::npos) << reason;
  EXPECT_EQ(remembered(), 1u);
}

TEST_F(ModuleProbe, DistinguishesSoftwareDevices) {
  for (int i = 0; i < 2; ++i) {  // found and remembered
    EXPECT_TRUE(probe_module(RC_MODULE_SOFT).only_software);
    EXPECT_FALSE(probe_module(RC_MODULE_FOUND).only_software);
    EXPECT_EQ(remembered(), 2u);
  }
}

TEST_F(ModuleProbe, AnswerIsReadWhileTheOutputStaysOpen) {
  EXPECT_EQ(probe_module(RC_MODULE_SERVICE).reason, "");
  EXPECT_EQ(remembered(), 1u);
}

// Results of other circumstances are replaced.
TEST_F(ModuleProbe, OneSuccessIsRememberedForAModule) {
  EXPECT_EQ(probe_module(RC_MODULE_FOUND).reason, "");
  const TemporaryVariable drivers("VK_DRIVER_FILES", "/nonexistent.json");
  EXPECT_EQ(probe_module(RC_MODULE_FOUND).reason, "");
  EXPECT_EQ(remembered(), 1u);
}

// Returns the reason of discovery for an unusable module.
std::string listed_reason(const std::string& name) {
  for (const BackendReport& backend : discover().backends) {
    if (backend.name == name) return backend.reason;
  }
  return "it is not listed";
}

TEST_F(ModuleProbe, ACrashingModuleIsListedWithItsReason) {
  const TemporaryFolder made;
  const fs::path& folder = made.path();
  fs::copy(RC_MODULE_CRASH, folder / "librunciblebackend-crash.so");
  const TemporaryVariable path("RUNCIBLE_PLUGIN_PATH", folder.string());
  EXPECT_NE(listed_reason("crash").find("crashed"), std::string::npos)
      << listed_reason("crash");
}

// The loader would wait for who writes to a pipe, for ever.
TEST_F(ModuleProbe, OtherThanRegularFilesAreListedAndNotOpened) {
  const TemporaryFolder made;
  const fs::path& folder = made.path();
  const fs::path pipe = folder / "librunciblebackend-pipe.so";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0700), 0);
  fs::create_directory(folder / "librunciblebackend-folder.so");
  const TemporaryVariable path("RUNCIBLE_PLUGIN_PATH", folder.string());
  for (const char* name : {"pipe", "folder"}) {
    EXPECT_NE(listed_reason(name).find("not a regular file"), std::string::npos)
        << listed_reason(name);
  }
  EXPECT_EQ(remembered(), 0u);
  try {
    load_plugin(pipe.string());
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_IO);
    EXPECT_NE(error.message().find(pipe.string()), std::string::npos);
  }
}

// "auto" leaves software alone, and does not even load it.
TEST_F(ModuleProbe, SoftwareIsLoadedWhenItIsNamed) {
  const TemporaryFolder made;
  fs::copy(RC_MODULE_SOFT, made.path() / "librunciblebackend-soft.so");
  const TemporaryVariable path("RUNCIBLE_PLUGIN_PATH", made.path().string());
  const Selected selected = select({"auto", 0, {}});
  EXPECT_EQ(selected.device->id(), "cpu:0");
  EXPECT_EQ(PluginList::instance().find("soft"), nullptr);
  bool reported = false;
  for (const Candidate& candidate : selected.candidates) {
    reported =
        reported || (candidate.id == "soft" &&
                     candidate.reason.find("software") != std::string::npos);
  }
  EXPECT_TRUE(reported);
  EXPECT_EQ(select({"soft", 0, {}}).device->id(), "soft:0");
  EXPECT_EQ(select({"auto", 0, {}}).device->id(), "cpu:0");
}

}  // namespace
}  // namespace rc::test
