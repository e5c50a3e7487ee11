// The table of the opencl backend.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "model/model_util.h"
#include "opencl/opencl_util.h"
#include "runtime/registry.h"

namespace rc::test {
namespace {

namespace fs = std::filesystem;

// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "openclXXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::bad_alloc();
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// A copy of the module is another module to the system: nothing of it has been
// loaded or found yet.
const rc_plugin* fresh_table(const Folder& folder) {
  const fs::path copy = folder.path() / "copy.so";
  fs::copy_file(RC_OPENCL_MODULE, copy);
  void* module = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) return nullptr;
  auto* entry = reinterpret_cast<const rc_plugin* (*)()>(
      dlsym(module, "rc_plugin_entry"));
  return entry == nullptr ? nullptr : entry();
}

TEST(OpenclPlugin, WithoutALoaderItSaysSoAndTriesAgain) {
  const Folder folder;
  const rc_plugin* table = fresh_table(folder);
  ASSERT_NE(table, nullptr);
  int32_t count = -1;
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  {
    const Variable missing("RUNCIBLE_OPENCL_LIBRARY", "/no/libOpenCL.so.1");
    EXPECT_EQ(table->device_count(&count, message), RC_E_BACKEND_UNAVAILABLE);
    EXPECT_NE(std::string(message).find("/no/libOpenCL.so.1"),
              std::string::npos)
        << message;
    rc_plugin_device* device = nullptr;
    const rc_plugin_open_options options = {sizeof options, 0, 0,
                                            [](rc_log_level, const char*) {}};
    EXPECT_EQ(table->open(0, &options, &device, message),
              RC_E_BACKEND_UNAVAILABLE);
    EXPECT_EQ(device, nullptr);
  }
  {
    // A library, but none of OpenCL.
    const Variable other("RUNCIBLE_OPENCL_LIBRARY", "libm.so.6");
    EXPECT_EQ(table->device_count(&count, message), RC_E_BACKEND_UNAVAILABLE);
    EXPECT_NE(std::string(message).find("clGetPlatformIDs"), std::string::npos)
        << message;
  }
  RC_NEEDS_OPENCL();
  EXPECT_EQ(table->device_count(&count, message), RC_OK) << message;
  EXPECT_GT(count, 0);
}

TEST(OpenclPlugin, DevicesThatDoNotExistAreNotFound) {
  RC_NEEDS_OPENCL();
  const Folder folder;
  const rc_plugin* table = fresh_table(folder);
  ASSERT_NE(table, nullptr);
  int32_t count = 0;
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  ASSERT_EQ(table->device_count(&count, message), RC_OK);
  rc_plugin_device_info info = {};
  info.struct_size = sizeof info;
  for (int32_t index : {-1, count}) {
    EXPECT_EQ(table->device_info(index, &info, message), RC_E_NOT_FOUND);
  }
}

TEST(OpenclPlugin, TuningIsChecked) {
  RC_NEEDS_OPENCL();
  for (const char* text :
       {"rows", "rows=", "rows=-1", "rows=0", "rows=3", "lanes=2",
        "lanes=16,tile=8", "speed=9", "rows=99999", "rows=1x", "=4"}) {
    const Variable tuning("RUNCIBLE_OPENCL_TUNING", text);
    try {
      open_device("opencl");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(error.message().find("RUNCIBLE_OPENCL_TUNING"),
                std::string::npos)
          << error.message();
    }
  }
}

TEST(OpenclPlugin, TimesOfOpsAreInOrder) {
  RC_NEEDS_OPENCL();
  runtime::Selection selection;
  selection.spec = "opencl";
  selection.device.profile = true;
  const auto device = runtime::select(selection).device;
  const auto file = model::ModelFile::open(fs::path(RC_SOURCE_DIR) /
                                           "examples/model/fable.gguf");
  const auto resident = model::ResidentModel::load(
      file, model::place(*file, options_of({}), device), options_of({}), {});
  evaluate(*resident, {1, 2, 3});
  std::vector<rc_plugin_op_time> times(4096);
  size_t count = 0;
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  ASSERT_EQ(device->plugin().op_times(device->handle(), times.data(),
                                      times.size(), &count, message),
            RC_OK)
      << message;
  ASSERT_GT(count, 10u);
  ASSERT_LE(count, times.size());
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(times[i].op, static_cast<int32_t>(i));
    EXPECT_LE(times[i].begin_ns, times[i].end_ns);
    if (i > 0) {
      EXPECT_LE(times[i - 1].end_ns, times[i].begin_ns);
    }
  }
  // No more are written than there is room for.
  times[1].op = -7;
  ASSERT_EQ(device->plugin().op_times(device->handle(), times.data(), 1, &count,
                                      message),
            RC_OK);
  EXPECT_GT(count, 10u);
  EXPECT_EQ(times[1].op, -7);
}

}  // namespace
}  // namespace rc::test
