// Folders of the user that are named by relative paths: nothing is written to
// the folder that the command runs in.
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "cli/command.h"
#include "labels.h"
#include "temporary.h"

namespace rc::test {
namespace {

namespace fs = std::filesystem;

// Runs in an empty folder, without variables that name folders of the user.
class CommandRelativeFolders : public testing::Test {
 protected:
  CommandRelativeFolders() {
    fs::current_path(folder_.path());
    for (const char* name : kVariables) {
      const char* const value = std::getenv(name);
      before_.emplace_back(
          value == nullptr ? std::nullopt : std::optional<std::string>(value));
      unsetenv(name);
    }
  }
  ~CommandRelativeFolders() override {
    for (size_t i = 0; i < before_.size(); ++i) {
      if (before_[i]) {
        setenv(kVariables[i], before_[i]->c_str(), 1);
      } else {
        unsetenv(kVariables[i]);
      }
    }
    fs::current_path(came_from_);
  }

  static constexpr const char* kVariables[] = {
      "HOME",           "XDG_CONFIG_HOME", "XDG_CACHE_HOME",
      "XDG_DATA_HOME",  "XDG_STATE_HOME",  "HF_HOME",
      "HF_HUB_CACHE",   "HF_TOKEN_PATH",   "HUGGINGFACE_HUB_CACHE",
      "RUNCIBLE_CONFIG"};
  const TemporaryFolder folder_;

 private:
  const fs::path came_from_ = fs::current_path();
  std::vector<std::optional<std::string>> before_;
};

TEST_F(CommandRelativeFolders, AreNotWrittenTo) {
  for (const char* name : kVariables) {
    if (name == std::string("RUNCIBLE_CONFIG")) continue;  // may be relative
    for (const char* value : {"here", "./here", "here/../there", "."}) {
      SCOPED_TRACE(std::string(name) + "=" + value);
      const TemporaryVariable variable(name, value);
      // The caches of drivers are theirs.
      const TemporaryFolder drivers;
      const TemporaryVariable pocl("POCL_CACHE_DIR", drivers.path().string());
      const TemporaryVariable mesa("MESA_SHADER_CACHE_DISABLE", "true");
      for (const std::vector<std::string>& arguments :
           {std::vector<std::string>{"config"},
            {"config", "--path"},
            {"models"},
            {"devices"},
            {"explain", "auto"},
            {"pull", "hf:o/m", "--offline"},
            {"run", model(), "-n", "1", "--prompt-tokens", "1"}}) {
        // They start drivers, for which all spellings are one.
        const bool starts_drivers =
            arguments[0] == "devices" || arguments[0] == "explain";
        if (starts_drivers && value != std::string_view("here") &&
            !is_full_set()) {
          continue;
        }
        EXPECT_LT(run(arguments).code, 127) << arguments[0];
      }
      EXPECT_TRUE(fs::is_empty(folder_.path()))
          << fs::directory_iterator(folder_.path())->path();
    }
  }
}

TEST_F(CommandRelativeFolders, AreRefusedForTheHub) {
  const TemporaryVariable home("HOME", "/nonexistent");
  for (const char* name :
       {"HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    const TemporaryVariable variable(name, "here");
    expect_failure(run({"models"}), 2, std::string(name) + ": 'here'");
  }
}

TEST_F(CommandRelativeFolders, AreIgnoredForTheConfiguration) {
  for (const char* name : {"HOME", "XDG_CONFIG_HOME"}) {
    const TemporaryVariable variable(name, "here");
    EXPECT_EQ(run({"config", "--path"}).out.find("here"), std::string::npos)
        << name;
  }
}

}  // namespace
}  // namespace rc::test
