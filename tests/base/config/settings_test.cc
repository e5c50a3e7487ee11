#include "base/config/settings.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <string>

#include "base/error.h"
#include "temporary.h"

namespace rc::config {
namespace {

using test::TemporaryFolder;
using test::TemporaryVariable;

class ConfigSettingsTest : public testing::Test {
 protected:
  ~ConfigSettingsTest() override {
    set("backend.threads", {});
    use_file({});
  }

  void write(const std::string& text) {
    std::ofstream(path_) << text;
    use_file(path_);
  }

  static std::string message_of(const std::function<void()>& body) {
    try {
      body();
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  }

  TemporaryFolder folder_;
  const std::string path_ = (folder_.path() / "c.toml").string();
};

TEST_F(ConfigSettingsTest, LaterLayersOverrideEarlierOnes) {
  const char* name = "backend.threads";
  use_file("");
  EXPECT_EQ(Settings::now()->find(name), std::nullopt);
  EXPECT_EQ(Settings::now()->subject(name), name);
  write("\n[backend]\nthreads = 1\n");
  EXPECT_EQ(Settings::now()->integer(name), 1);
  EXPECT_EQ(Settings::now()->find(name)->layer, Layer::kFile);
  EXPECT_EQ(Settings::now()->subject(name), path_ + ":3: backend.threads");
  {
    const TemporaryVariable variable("RUNCIBLE_THREADS", "2");
    EXPECT_EQ(Settings::now()->integer(name), 2);
    EXPECT_EQ(Settings::now()->find(name)->layer, Layer::kEnvironment);
    EXPECT_EQ(Settings::now()->subject(name),
              "the environment variable RUNCIBLE_THREADS");
    set(name, "3");
    EXPECT_EQ(Settings::now()->integer(name), 3);
    EXPECT_EQ(Settings::now()->find(name)->layer, Layer::kProgram);
    set(name, {});
    EXPECT_EQ(Settings::now()->integer(name), 2);
  }
  EXPECT_EQ(Settings::now()->integer(name), 1);
}

TEST_F(ConfigSettingsTest, ReportsWhichSectionsAreSet) {
  write("[model]\nmax_rows = 7\n");
  EXPECT_TRUE(Settings::now()->touches("model."));
  EXPECT_FALSE(Settings::now()->touches("session."));
  const TemporaryVariable variable("RUNCIBLE_SESSION_KEEP_TOKENS", "1");
  EXPECT_TRUE(Settings::now()->touches("session."));
  EXPECT_FALSE(Settings::now()->touches("generate."));
}

TEST_F(ConfigSettingsTest, FrequentReadsUseTheLastEnvironment) {
  use_file("");
  Settings::now();
  const TemporaryVariable variable("RUNCIBLE_GENERATE_TOP_K", "5");
  EXPECT_EQ(Settings::last()->integer("generate.top_k"), std::nullopt);
  EXPECT_EQ(Settings::now()->integer("generate.top_k"), 5);
  EXPECT_EQ(Settings::last()->integer("generate.top_k"), 5);
}

TEST_F(ConfigSettingsTest, RefusesVariablesWhenTheyAreNeeded) {
  use_file("");
  for (const char* value : {"1025", "-1", "x", "1x", " 1", "1.5", "+1", "0x1",
                            "99999999999999999999999"}) {
    const TemporaryVariable variable("RUNCIBLE_THREADS", value);
    const auto settings = Settings::now();
    EXPECT_EQ(settings->text("backend.spec"), std::nullopt);
    EXPECT_EQ(message_of([&] { settings->integer("backend.threads"); }),
              std::string("the environment variable RUNCIBLE_THREADS is '") +
                  value + "'; it must be an integer from 0 to 1024");
  }
  for (const char* value : {"2", "yes", "True", "-0"}) {
    const TemporaryVariable variable("RUNCIBLE_PROFILE", value);
    EXPECT_NE(message_of([] { Settings::now()->flag("backend.profile"); }), "");
  }
  const TemporaryVariable one("RUNCIBLE_PROFILE", "1");
  EXPECT_EQ(Settings::now()->flag("backend.profile"), true);
  const TemporaryVariable zero("RUNCIBLE_BACKEND_STRICT", "false");
  EXPECT_EQ(Settings::now()->flag("backend.strict"), false);
}

TEST_F(ConfigSettingsTest, RefusesInvalidSettingsOfTheProgram) {
  EXPECT_EQ(message_of([] { set("backend.thread", "1"); }),
            "there is no setting 'backend.thread'; the nearest is "
            "backend.threads");
  EXPECT_EQ(message_of([] { set("backend.threads", "many"); }),
            "backend.threads is 'many'; it must be an integer from 0 to 1024");
  EXPECT_EQ(message_of([] { set("generate.top_k", {}); }), "");
}

TEST_F(ConfigSettingsTest, ReadsABadFileAgainAfterItsCorrection) {
  write("[backend]\nthreads = 1\n");
  {
    std::ofstream(path_) << "[backend]\nthreads = many\n";
    EXPECT_NE(message_of([&] { use_file(path_); }), "");
  }
  // The settings that were read before stay in effect.
  EXPECT_EQ(Settings::now()->integer("backend.threads"), 1);
  const TemporaryVariable named("RUNCIBLE_CONFIG", path_);
  EXPECT_NE(message_of([] { use_file({}); }).find(path_ + ":2"),
            std::string::npos);
  std::ofstream(path_) << "[backend]\nthreads = 5\n";
  use_file({});
  EXPECT_EQ(Settings::now()->integer("backend.threads"), 5);
  EXPECT_EQ(Settings::now()->file().place.said_by, "RUNCIBLE_CONFIG");
  // Read once: changes are for the next program.
  std::ofstream(path_) << "[backend]\nthreads = 6\n";
  EXPECT_EQ(Settings::now()->integer("backend.threads"), 5);
}

}  // namespace
}  // namespace rc::config
