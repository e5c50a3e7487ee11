// fetch.h, with a hub on loopback.
#include "runcible/fetch.h"

#include "api/api_util.h"
#include "hub/fake_hub.h"

namespace rc::test {
namespace {

namespace fs = std::filesystem;

struct Ended {
  int times = 0;
  rc_status status = RC_OK;
  std::string message;
  std::string path;
  std::thread::id thread;
};

void on_end(void* user, rc_status status, const char* message,
            const char* path) {
  auto& ended = *static_cast<Ended*>(user);
  ++ended.times;
  ended.status = status;
  ended.message = message;
  ended.path = path == nullptr ? "" : path;
  ended.thread = std::this_thread::get_id();
}

class Fetch : public testing::Test {
 protected:
  void SetUp() override { RC_SKIP_WITHOUT_LIBCURL(); }
  Fetch() { hub_.put("m.gguf", content_of_file(model_path())); }

  static Loop new_loop() {
    rc_loop* loop = nullptr;
    EXPECT_OK(rc_loop_create(&loop));
    return Loop(loop);
  }
  static void run_until(rc_loop* loop, const Ended& ended) {
    while (ended.times == 0) {
      ASSERT_OK(rc_loop_wait(loop, -1));
      ASSERT_OK(rc_loop_dispatch(loop, 0, nullptr));
    }
  }

  FakeHub hub_;
  const HubEnvironment environment_{hub_.address()};
};

TEST_F(Fetch, FetchedModelCanBeLoaded) {
  const Backend backend = open_backend();
  rc_model* model = nullptr;
  EXPECT_FAILS(RC_E_NOT_FOUND,
               rc_model_load(backend.get(), "hf:o/m", nullptr, &model),
               "rc_model_fetch", "hf:o/m");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_model_load(backend.get(), "hf:../m", nullptr, &model),
               "hf:OWNER/NAME");
  for (const auto& open : openers(backend.get())) {
    EXPECT_EQ(open("hf:o/m"), RC_E_NOT_FOUND);
  }
  char* path = nullptr;
  ASSERT_OK(rc_model_fetch("hf:o/m", nullptr, &path));
  EXPECT_EQ(content_of_file(path), content_of_file(model_path()));
  rc_free(path);
  ASSERT_OK(rc_model_load(backend.get(), "hf:o/m", nullptr, &model));
  rc_model_release(model);
  for (const auto& open : openers(backend.get())) {
    EXPECT_EQ(open("hf:o/m"), RC_OK) << rc_error_message();
  }
}

TEST_F(Fetch, EndsOnTheLoop) {
  const Loop loop = new_loop();
  std::atomic<int> reports{0};
  rc_fetch_options options = RC_FETCH_OPTIONS_INIT;
  options.progress = [](void* user, const char*, uint64_t done,
                        uint64_t total) {
    EXPECT_TRUE(total == 0 || done <= total);
    ++*static_cast<std::atomic<int>*>(user);
    return 0;
  };
  options.progress_user = &reports;
  Ended ended;
  ASSERT_OK(
      rc_model_fetch_async("hf:o/m", &options, loop.get(), on_end, &ended));
  run_until(loop.get(), ended);
  EXPECT_EQ(ended.status, RC_OK) << ended.message;
  EXPECT_EQ(ended.thread, std::this_thread::get_id());
  EXPECT_EQ(content_of_file(ended.path), content_of_file(model_path()));
  EXPECT_GT(reports, 0);
}

TEST_F(Fetch, FailuresAreDeliveredOnTheLoop) {
  const Loop loop = new_loop();
  Ended ended;
  ASSERT_OK(
      rc_model_fetch_async("hf:o/none", nullptr, loop.get(), on_end, &ended));
  run_until(loop.get(), ended);
  EXPECT_EQ(ended.status, RC_E_NOT_FOUND);
  EXPECT_NE(ended.message.find("404"), std::string::npos) << ended.message;
  EXPECT_EQ(ended.path, "");
}

TEST_F(Fetch, ClosingTheLoopCancels) {
  hub_.set_fault([](const Asked&, bool, Reply* reply) {
    reply->stall_after = 0;  // it would be waited for for half a minute
  });
  const Loop loop = new_loop();
  Ended ended;
  ASSERT_OK(
      rc_model_fetch_async("hf:o/m", nullptr, loop.get(), on_end, &ended));
  ASSERT_OK(rc_loop_close(loop.get()));
  run_until(loop.get(), ended);
  EXPECT_EQ(ended.status, RC_E_CANCELLED) << ended.message;
  EXPECT_EQ(rc_model_fetch_async("hf:o/m", nullptr, loop.get(), on_end, &ended),
            RC_E_CLOSED);
}

TEST_F(Fetch, TheProgressCallbackCancelsOrThrows) {
  rc_fetch_options options = RC_FETCH_OPTIONS_INIT;
  options.progress = [](void*, const char*, uint64_t, uint64_t) { return 1; };
  char* path = nullptr;
  EXPECT_FAILS(RC_E_CANCELLED, rc_model_fetch("hf:o/m", &options, &path),
               "hf:o/m");
  EXPECT_EQ(path, nullptr);
  options.progress = [](void*, const char*, uint64_t, uint64_t) -> int32_t {
    throw std::runtime_error("no");
  };
  EXPECT_FAILS(RC_E_INTERNAL, rc_model_fetch("hf:o/m", &options, &path),
               "progress callback");
}

TEST_F(Fetch, ArgumentsAreChecked) {
  char* path = nullptr;
  rc_fetch_options options = RC_FETCH_OPTIONS_INIT;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_model_fetch(nullptr, nullptr, &path),
               "source");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_model_fetch("hf:o/m", nullptr, nullptr), "path");
  options.connections = 33;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_model_fetch("hf:o/m", &options, &path),
               "connections");
  options = RC_FETCH_OPTIONS_INIT;
  for (const char* source :
       {"", "m.gguf", "hf:", "hf:m", "hf:o/m:", "hf:o/m@", "hf:o/../m",
        "hf:o/m:../x", "hf:o/m:/x", "hf:o/m@../x", "hf:o//m", "hf:-o/m",
        "https://example.com/m.gguf"}) {
    EXPECT_EQ(rc_model_fetch(source, nullptr, &path), RC_E_INVALID_ARGUMENT)
        << source;
  }
  options.revision = "../x";
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_model_fetch("hf:o/m", &options, &path),
               "revision");
  Ended ended;
  EXPECT_EQ(rc_model_fetch_async("hf:o/m", nullptr, nullptr, nullptr, &ended),
            RC_E_INVALID_ARGUMENT);
}

TEST_F(Fetch, ListsAndRemoves) {
  const TemporaryFolder folder;
  const std::string cache = folder.path() / "mine";
  rc_fetch_options options = RC_FETCH_OPTIONS_INIT;
  options.cache = cache.c_str();
  char* path = nullptr;
  ASSERT_OK(rc_model_fetch("hf:o/m", &options, &path));
  EXPECT_EQ(std::string(path).rfind(cache, 0), 0u) << path;
  rc_free(path);
  char* json = nullptr;
  ASSERT_OK(rc_cached_models(cache.c_str(), &json));
  EXPECT_NE(std::string(json).find("hf:o/m"), std::string::npos) << json;
  rc_free(json);
  ASSERT_OK(rc_cached_models(nullptr, &json));
  EXPECT_EQ(std::string(json).find("hf:o/m"), std::string::npos) << json;
  rc_free(json);
  size_t freed = 0;
  ASSERT_OK(rc_cached_model_remove("hf:o/m:m.gguf", cache.c_str(), &freed));
  EXPECT_GT(freed, fs::file_size(model_path()) / 2);
  EXPECT_FAILS(RC_E_NOT_FOUND,
               rc_cached_model_remove("hf:o/m", cache.c_str(), nullptr),
               "hf:o/m");
}

}  // namespace
}  // namespace rc::test
