#include "hub/settings.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "temporary.h"

namespace rc::hub {
namespace {

using test::TemporaryVariable;

class HubSettings : public testing::Test {
 protected:
  static std::string failure(std::string (*function)(), rc_status status) {
    try {
      return "no failure, but " + function();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), status);
      return error.message();
    }
  }

 private:
  // An empty variable counts as absent.
  const TemporaryVariable hub_cache_{"HF_HUB_CACHE", ""};
  const TemporaryVariable old_hub_cache_{"HUGGINGFACE_HUB_CACHE", ""};
  const TemporaryVariable hf_home_{"HF_HOME", ""};
  const TemporaryVariable cache_{"XDG_CACHE_HOME", ""};
  const TemporaryVariable token_{"HF_TOKEN", ""};
  const TemporaryVariable old_token_{"HUGGING_FACE_HUB_TOKEN", ""};
  const TemporaryVariable token_path_{"HF_TOKEN_PATH", ""};
  const TemporaryVariable home_{"HOME", "/home/of/nobody"};
};

TEST_F(HubSettings, CacheFolderFollowsTheVariables) {
  EXPECT_EQ(cache_folder(), "/home/of/nobody/.cache/huggingface/hub");
  const TemporaryVariable cache("XDG_CACHE_HOME", "/cache");
  EXPECT_EQ(cache_folder(), "/cache/huggingface/hub");
  const TemporaryVariable home("HF_HOME", "~/hf");
  EXPECT_EQ(cache_folder(), "/home/of/nobody/hf/hub");
  const TemporaryVariable hub("HF_HUB_CACHE", "/hub");
  EXPECT_EQ(cache_folder(), "/hub");
}

TEST_F(HubSettings, RelativePathsOfTheHubAreRefused) {
  for (const char* name :
       {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME"}) {
    for (const char* path : {"models", "./models", "../models", "~other/x"}) {
      const TemporaryVariable variable(name, path);
      EXPECT_EQ(
          failure(cache_folder, RC_E_INVALID_ARGUMENT)
              .rfind(std::string(name) + ": '" + path + "' is a relative", 0),
          0u);
    }
  }
  for (const char* name : {"HF_TOKEN_PATH", "HF_HOME"}) {
    const TemporaryVariable variable(name, "token");
    EXPECT_EQ(failure(token, RC_E_INVALID_ARGUMENT)
                  .rfind(std::string(name) + ": 'token' is a relative", 0),
              0u);
  }
}

TEST_F(HubSettings, RelativeUserFoldersAreIgnored) {
  const TemporaryVariable cache("XDG_CACHE_HOME", "cache");
  EXPECT_EQ(cache_folder(), "/home/of/nobody/.cache/huggingface/hub");
  const TemporaryVariable home("HOME", "here");
  EXPECT_NE(failure(cache_folder, RC_E_NOT_FOUND).find("HOME is 'here'"),
            std::string::npos);
  EXPECT_EQ(token(), "");
  const TemporaryVariable hf_home("HF_HOME", "~/hf");
  EXPECT_NE(failure(cache_folder, RC_E_NOT_FOUND).find("HOME is 'here'"),
            std::string::npos);
}

}  // namespace
}  // namespace rc::hub
