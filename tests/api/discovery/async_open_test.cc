// Discovery and opening whose end is reported on a loop.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "api/api_util.h"
#include "temporary.h"

namespace rc::test {
namespace {

namespace fs = std::filesystem;

// The arguments of an end callback.
template <class Handle>
struct Ended {
  int calls = 0;
  rc_status status = RC_OK;
  std::string message;
  Handle* handle = nullptr;
};

template <class Handle>
void on_end(void* user, rc_status status, const char* message, Handle* handle) {
  auto* ended = static_cast<Ended<Handle>*>(user);
  ++ended->calls;
  ended->status = status;
  ended->message = message;
  ended->handle = handle;
}

Loop make_loop() {
  rc_loop* loop = nullptr;
  EXPECT_OK(rc_loop_create(&loop));
  return Loop(loop);
}

template <class Handle>
void wait(rc_loop* loop, const Ended<Handle>& ended) {
  while (ended.calls == 0) {
    ASSERT_OK(rc_loop_wait(loop, 60000));
    ASSERT_OK(rc_loop_dispatch(loop, 0, nullptr));
  }
  EXPECT_EQ(ended.calls, 1);
}

class AsyncOpen : public testing::Test {
 public:
  // Whether the module has been asked for its devices.
  bool asked() const { return fs::exists(asked_); }

 protected:
  // A module whose driver never answers, and says when it is asked.
  void find_stuck_module() {
    fs::create_directory(modules_);
    fs::copy(RC_MODULE_STUCK, modules_ / "librunciblebackend-stuck.so");
  }
  const TemporaryFolder folder_;
  const fs::path modules_ = folder_.path() / "modules";
  const fs::path asked_ = folder_.path() / "asked";
  const TemporaryVariable path_{"RUNCIBLE_PLUGIN_PATH", modules_.string()};
  const TemporaryVariable stuck_{"RUNCIBLE_TEST_STUCK", asked_.string()};
  const TemporaryVariable cache_{"XDG_CACHE_HOME",
                                 (folder_.path() / "cache").string()};
  const Loop loop_ = make_loop();
};

TEST_F(AsyncOpen, OpensTheFirstAvailableBackendOfTheChain) {
  Ended<rc_backend> ended;
  ASSERT_OK(rc_backend_open_async("no_such,reference", nullptr, loop_.get(),
                                  on_end<rc_backend>, &ended));
  wait(loop_.get(), ended);
  ASSERT_EQ(ended.status, RC_OK) << ended.message;
  const Backend backend(ended.handle);
  rc_device_report device = RC_DEVICE_REPORT_INIT;
  ASSERT_OK(rc_backend_device(backend.get(), &device));
  EXPECT_STREQ(device.id, "reference:0");
}

TEST_F(AsyncOpen, FailuresAreReportedToTheCallback) {
  Ended<rc_backend> ended;
  ASSERT_OK(rc_backend_open_async("no_such", nullptr, loop_.get(),
                                  on_end<rc_backend>, &ended));
  wait(loop_.get(), ended);
  EXPECT_EQ(ended.status, RC_E_NOT_FOUND);
  EXPECT_NE(ended.message.find("no_such"), std::string::npos) << ended.message;
  EXPECT_EQ(ended.handle, nullptr);
}

// The configuration is read on the thread that opens.
TEST_F(AsyncOpen, ConfigurationErrorsAreReportedToTheCallback) {
  const TemporaryVariable wrong("RUNCIBLE_BACKEND_MAX_REQUESTS", "many");
  Ended<rc_backend> ended;
  ASSERT_OK(rc_backend_open_async("reference", nullptr, loop_.get(),
                                  on_end<rc_backend>, &ended));
  wait(loop_.get(), ended);
  EXPECT_EQ(ended.status, RC_E_INVALID_ARGUMENT);
  EXPECT_NE(ended.message.find("RUNCIBLE_BACKEND_MAX_REQUESTS"),
            std::string::npos)
      << ended.message;
}

TEST_F(AsyncOpen, InvalidArgumentsAreRefusedAtOnce) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.threads = -1;
  Ended<rc_backend> ended;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_backend_open_async("cpu", &options, loop_.get(),
                                     on_end<rc_backend>, &ended),
               "threads", "-1");
  EXPECT_FAILS(
      RC_E_INVALID_ARGUMENT,
      rc_backend_open_async("cpu", nullptr, loop_.get(), nullptr, nullptr),
      "callback");
  EXPECT_FAILS(
      RC_E_INVALID_ARGUMENT,
      rc_discover_async(nullptr, nullptr, loop_.get(), nullptr, nullptr),
      "callback");
  ASSERT_OK(rc_loop_close(loop_.get()));
  EXPECT_FAILS(RC_E_CLOSED, rc_backend_open_async("cpu", nullptr, loop_.get(),
                                                  on_end<rc_backend>, &ended));
  EXPECT_EQ(ended.calls, 0);
}

TEST_F(AsyncOpen, DiscoveryReportsProgress) {
  std::vector<double> fractions;
  Ended<rc_device_list> ended;
  ASSERT_OK(rc_discover_async(
      [](void* user, double fraction) -> int32_t {
        static_cast<std::vector<double>*>(user)->push_back(fraction);
        return 0;
      },
      &fractions, loop_.get(), on_end<rc_device_list>, &ended));
  wait(loop_.get(), ended);
  ASSERT_EQ(ended.status, RC_OK) << ended.message;
  EXPECT_GT(rc_device_list_count(ended.handle), 0u);
  rc_device_list_release(ended.handle);
  ASSERT_FALSE(fractions.empty());
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_EQ(fractions.back(), 1);
}

// While a driver hangs, in the process that tries it.
TEST_F(AsyncOpen, TheProgressCallbackCancels) {
  find_stuck_module();
  const auto end_when_asked = [](void* user, double) -> int32_t {
    return static_cast<AsyncOpen*>(user)->asked();
  };
  Ended<rc_device_list> discovered;
  ASSERT_OK(rc_discover_async(end_when_asked, this, loop_.get(),
                              on_end<rc_device_list>, &discovered));
  wait(loop_.get(), discovered);
  EXPECT_EQ(discovered.status, RC_E_CANCELLED) << discovered.message;
  EXPECT_EQ(discovered.handle, nullptr);

  // It was no failure of the module: it is tried again.
  fs::remove(asked_);
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.progress = end_when_asked;
  options.progress_user = this;
  Ended<rc_backend> opened;
  ASSERT_OK(rc_backend_open_async("stuck", &options, loop_.get(),
                                  on_end<rc_backend>, &opened));
  wait(loop_.get(), opened);
  EXPECT_EQ(opened.status, RC_E_CANCELLED) << opened.message;
  EXPECT_TRUE(asked());

  fs::remove(asked_);
  rc_backend* backend = nullptr;
  EXPECT_FAILS(RC_E_CANCELLED, rc_backend_open("stuck", &options, &backend),
               "cancelled");
  EXPECT_EQ(backend, nullptr);
  EXPECT_TRUE(asked());
}

TEST_F(AsyncOpen, ClosingTheLoopCancels) {
  find_stuck_module();
  Ended<rc_backend> ended;
  ASSERT_OK(rc_backend_open_async("stuck", nullptr, loop_.get(),
                                  on_end<rc_backend>, &ended));
  while (!asked()) usleep(1000);
  // A second one waits for the first.
  Ended<rc_device_list> discovered;
  ASSERT_OK(rc_discover_async(nullptr, nullptr, loop_.get(),
                              on_end<rc_device_list>, &discovered));
  ASSERT_OK(rc_loop_close(loop_.get()));
  while (ended.calls + discovered.calls < 2) {
    const rc_status status = rc_loop_wait(loop_.get(), 60000);
    ASSERT_TRUE(status == RC_OK || status == RC_E_CLOSED);
    ASSERT_OK(rc_loop_dispatch(loop_.get(), 0, nullptr));
  }
  EXPECT_EQ(ended.status, RC_E_CANCELLED) << ended.message;
  EXPECT_EQ(discovered.status, RC_E_CANCELLED) << discovered.message;
}

}  // namespace
}  // namespace rc::test
