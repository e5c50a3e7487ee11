#include "runtime/module_probe.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "runtime/registry.h"
#include "temporary.h"

namespace rc::runtime {
namespace {

namespace fs = std::filesystem;

class ModuleProbe : public testing::Test {
 protected:
  size_t remembered() const {
    std::error_code none;
    const fs::directory_iterator files(cache_ / "runcible", none);
    return static_cast<size_t>(std::distance(fs::begin(files), fs::end(files)));
  }
  const test::TemporaryFolder folder_;
  const fs::path cache_ = folder_.path() / "cache";
  const test::TemporaryVariable variable_{"XDG_CACHE_HOME", cache_.string()};
};

TEST_F(ModuleProbe, RemembersASuccess) {
  EXPECT_EQ(probe_module(RC_MODULE_FOUND), "");
  EXPECT_EQ(remembered(), 1u);
  EXPECT_EQ(probe_module(RC_MODULE_FOUND), "");
  EXPECT_EQ(remembered(), 1u);
}

TEST_F(ModuleProbe, LeavesWhatIsNoPluginToTheLibrary) {
  EXPECT_EQ(probe_module(RC_MODULE_WITHOUT_ENTRY), "");
  EXPECT_EQ(probe_module("/nonexistent/module.so"), "");
}

TEST_F(ModuleProbe, ACrashIsAReason) {
  for (int i = 0; i < 2; ++i) {
    const std::string reason = probe_module(RC_MODULE_CRASH);
    EXPECT_NE(reason.find("crashed when asked for its devices (signal 11"),
              std::string::npos)
        << reason;
    EXPECT_NE(reason.find(RC_MODULE_CRASH), std::string::npos) << reason;
  }
  EXPECT_EQ(remembered(), 0u);
}

TEST_F(ModuleProbe, AHangIsAReason) {
  const std::string reason = probe_module(RC_MODULE_HANG);
  EXPECT_NE(reason.find("it did not exit"), std::string::npos) << reason;
  EXPECT_EQ(remembered(), 0u);
}

TEST_F(ModuleProbe, AnAnswerCountsThoughTheOutputStaysOpen) {
  EXPECT_EQ(probe_module(RC_MODULE_SERVICE), "");
  EXPECT_EQ(remembered(), 1u);
}

// What was found in other circumstances makes room.
TEST_F(ModuleProbe, OneSuccessIsRememberedForAModule) {
  EXPECT_EQ(probe_module(RC_MODULE_FOUND), "");
  const test::TemporaryVariable drivers("VK_DRIVER_FILES", "/nonexistent.json");
  EXPECT_EQ(probe_module(RC_MODULE_FOUND), "");
  EXPECT_EQ(remembered(), 1u);
}

TEST_F(ModuleProbe, ACrashingModuleIsListedWithItsReason) {
  const test::TemporaryFolder made;
  const fs::path& folder = made.path();
  fs::copy(RC_MODULE_CRASH, folder / "librunciblebackend-crash.so");
  const test::TemporaryVariable path("RUNCIBLE_PLUGIN_PATH", folder.string());
  bool found = false;
  for (const BackendReport& backend : discover().backends) {
    if (backend.name != "crash") continue;
    found = true;
    EXPECT_NE(backend.reason.find("crashed"), std::string::npos)
        << backend.reason;
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace rc::runtime
