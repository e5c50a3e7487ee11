// Compiled pipelines are kept in a file: whatever exists in its place, devices
// open, and a valid file replaces it.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "device/limits_util.h"
#include "device/module_util.h"
#include "model/model_util.h"
#include "runtime/registry.h"
#include "temporary.h"

namespace rc::test {
namespace {

namespace fs = std::filesystem;

class VulkanCache : public testing::Test {
 protected:
  void SetUp() override { RC_NEEDS_DEVICE("vulkan"); }

  // Opens a device, computes, and closes it, which writes the file.
  static void use() {
    expect_right(open_device("vulkan"), add_case(2, 70));
    wait_until_closed("vulkan");
  }
  fs::path folder() const { return home_.path() / "runcible" / "vulkan"; }
  // The only file.
  fs::path file() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(folder())) {
      all.push_back(entry.path());
    }
    EXPECT_EQ(all.size(), 1u);
    return all.at(0);
  }
  static unsigned mode_of(const fs::path& path) {
    struct stat found = {};
    EXPECT_EQ(lstat(path.c_str(), &found), 0);
    return found.st_mode;
  }
  static std::string content_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void expect_good_file() const {
    EXPECT_EQ(mode_of(file()), S_IFREG | 0600u);
    EXPECT_EQ(content_of(file()).substr(0, 6), "rccomp");
  }

  const TemporaryFolder home_;
  const TemporaryVariable variable_{"XDG_CACHE_HOME", home_.path().string()};
  // Which would look for its folder after the test.
  const TemporaryVariable no_other_{"MESA_SHADER_CACHE_DISABLE", "true"};
};

TEST_F(VulkanCache, IsInAPrivateFolder) {
  use();
  expect_good_file();
  EXPECT_EQ(mode_of(folder()), S_IFDIR | 0700u);
}

TEST_F(VulkanCache, OtherKindsOfFilesAreReplaced) {
  use();
  const fs::path name = file();
  const std::string good = content_of(name);

  fs::remove(name);
  ASSERT_EQ(mkfifo(name.c_str(), 0600), 0);
  use();  // does not wait for a writer of the pipe
  expect_good_file();

  const fs::path elsewhere = home_.path() / "elsewhere";
  fs::rename(name, elsewhere);
  const std::string before = content_of(elsewhere);
  fs::create_symlink(elsewhere, name);
  use();
  expect_good_file();
  EXPECT_EQ(content_of(elsewhere), before);

  for (const size_t place : {size_t{0}, size_t{9}, good.size() - 1}) {
    std::string damaged = good;
    damaged[place] = static_cast<char>(damaged[place] ^ 0x41);
    std::ofstream(name, std::ios::binary) << damaged;
    use();
    expect_good_file();
    EXPECT_NE(content_of(name), damaged);
  }
  std::ofstream(name, std::ios::binary) << good.substr(0, good.size() / 2);
  use();
  expect_good_file();

  fs::permissions(name, fs::perms(0622));
  use();
  expect_good_file();
}

TEST_F(VulkanCache, ConcurrentWritersLeaveAValidFile) {
  std::vector<std::thread> writers;
  for (int i = 1; i <= 4; ++i) {
    writers.emplace_back([i] {
      // Openings with different options are different devices.
      for (int k = 0; k < 3; ++k) {
        runtime::Selection selection;
        selection.spec = "vulkan";
        selection.device.threads = i;
        expect_right(runtime::select(selection).device, add_case(2, 70));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  wait_until_closed("vulkan");
  expect_good_file();
}

}  // namespace
}  // namespace rc::test
