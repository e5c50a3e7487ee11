// examples/remote_backend: ops that run in another process, and what becomes of
// requests, of this process and of the other one when either side dies, falls
// silent or talks nonsense.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>

#include "api/api_util.h"
#include "remote_util.h"
#include "temporary.h"

namespace rc::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kAnswerMs = 60'000;  // longer than anything takes here

// A generation on the way; its text and its end.
struct Generation {
  std::string text;
  std::string message;
  rc_generate_report report = RC_GENERATE_REPORT_INIT;
  bool ended = false;

  static void on_event(void* user, const rc_event* event) {
    auto* self = static_cast<Generation*>(user);
    if (event->type == RC_EVENT_PIECE) {
      self->text.append(event->text, event->text_length);
      return;
    }
    self->message = event->message;
    self->report = *event->report;
    self->ended = true;
  }
};

rc_generate_options greedy(int64_t max_tokens) {
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.prompt = "A fox and";
  options.prompt_length = std::strlen(options.prompt);
  options.max_tokens = max_tokens;
  options.temperature = 0;
  options.ignore_eos = 1;
  return options;
}

class Remote : public testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_OK(rc_plugin_load(RC_REMOTE_BACKEND)); }
  void SetUp() override {
    unsetenv("RUNCIBLE_REMOTE_TIMEOUT_MS");
    use(path("socket"));
  }

  std::string path(const char* name) const {
    return (folder_.path() / name).string();
  }
  static void use(const std::string& path) {
    setenv("RUNCIBLE_REMOTE", path.c_str(), 1);
  }
  static Model load_fable(rc_backend* backend) {
    rc_model* model = nullptr;
    EXPECT_OK(rc_model_load(backend, "builtin:fable", nullptr, &model));
    return Model(model);
  }
  static std::string fable(const char* spec) {
    const Backend backend = open_backend(spec);
    const Model model = load_fable(backend.get());
    const Session session = create_session(model.get());
    const rc_generate_options options = greedy(24);
    char* text = nullptr;
    size_t length = 0;
    EXPECT_OK(rc_generate(session.get(), &options, &text, &length, nullptr));
    const std::string copy(text == nullptr ? "" : text, length);
    rc_free(text);
    return copy;
  }

  // What runs without end would fail them. What passed is remembered.
  void pass_self_tests() const {
    const Server server(path("socket"));
    const Backend backend = open_backend("remote");
    const Model model = load_model(backend.get());
  }

  // Dispatches events until the condition holds; false after a long time.
  static bool dispatch_until(rc_loop* loop, std::function<bool()> condition) {
    const auto end = Clock::now() + std::chrono::milliseconds(kAnswerMs);
    while (!condition()) {
      if (Clock::now() > end) return false;
      rc_loop_wait(loop, 100);
      EXPECT_OK(rc_loop_dispatch(loop, 0, nullptr));
    }
    return true;
  }

  // What the server says of what its clients have.
  static std::string features() {
    rc_device_list* list = nullptr;
    EXPECT_OK(rc_discover(&list));
    std::string found;
    for (size_t i = 0; i < rc_device_list_count(list); ++i) {
      rc_device_report report = RC_DEVICE_REPORT_INIT;
      EXPECT_OK(rc_device_list_get(list, i, &report));
      if (std::string(report.backend) == "remote") found = report.features;
    }
    rc_device_list_release(list);
    return found;
  }
  static bool features_end_with(const std::string& expected) {
    const auto end = Clock::now() + std::chrono::milliseconds(kAnswerMs);
    while (!features().ends_with(expected)) {
      if (Clock::now() > end) return false;
    }
    return true;
  }

  TemporaryFolder folder_;
  inline static std::unique_ptr<TemporaryFolder> cache_;
};

// Opens, loads and generates; whether all went well.
bool walk() {
  rc_backend* backend = nullptr;
  if (rc_backend_open("remote", nullptr, &backend) != RC_OK) return false;
  const Backend holds_backend(backend);
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.context_length = 64;
  rc_model* model = nullptr;
  if (rc_model_load(backend, model_path().c_str(), &options, &model) != RC_OK) {
    return false;
  }
  const Model holds_model(model);
  const Session session = create_session(model);
  const rc_generate_options wanted = greedy(2);
  char* text = nullptr;
  const rc_status status =
      rc_generate(session.get(), &wanted, &text, nullptr, nullptr);
  rc_free(text);
  return status == RC_OK;
}

// A generation without end on the remote backend, and one on the cpu.
class Running {
 public:
  explicit Running(const char* spec = "remote") {
    rc_loop* made = nullptr;
    EXPECT_OK(rc_loop_create(&made));
    loop.reset(made);
    backend = open_backend(spec);
    model = load_model(backend.get());
    session = create_endless_session(model.get());
    rc_generate_options options = greedy(-1);
    rc_request* started = nullptr;
    EXPECT_OK(rc_generate_async(session.get(), &options, loop.get(),
                                Generation::on_event, &generation, &started));
    request.reset(started);
  }

  Loop loop;
  Backend backend;
  Model model;
  Session session;
  Generation generation;
  Request request;
};

TEST_F(Remote, WithoutAServerThereIsAReason) {
  rc_backend* backend = nullptr;
  EXPECT_FAILS(RC_E_BACKEND_UNAVAILABLE,
               rc_backend_open("remote", nullptr, &backend), path("socket"),
               "no remote_server answers");
  unsetenv("RUNCIBLE_REMOTE");
  EXPECT_FAILS(RC_E_BACKEND_UNAVAILABLE,
               rc_backend_open("remote", nullptr, &backend), "RUNCIBLE_REMOTE");
  use(std::string(200, 'x'));
  EXPECT_FAILS(RC_E_BACKEND_UNAVAILABLE,
               rc_backend_open("remote", nullptr, &backend), "RUNCIBLE_REMOTE");
}

TEST_F(Remote, TheTextIsThatOfTheServedModule) {
  Server server(path("socket"));
  EXPECT_EQ(fable("remote"), fable("reference"));
  EXPECT_TRUE(features_end_with("live 0, runs 0"));
  EXPECT_EQ(server.terminate(), 0);
  EXPECT_NE(access(server.path().c_str(), F_OK), 0);
}

TEST_F(Remote, AModuleInHostMemoryIsServed) {
  const Server server(path("socket"), RC_SERVED_EXAMPLE);
  const Backend backend = open_backend("remote");
  rc_device_report report = RC_DEVICE_REPORT_INIT;
  ASSERT_OK(rc_backend_device(backend.get(), &report));
  EXPECT_STREQ(report.name, "three ops in plain C");
}

TEST_F(Remote, AKilledServerIsALostDevice) {
  auto server = std::make_unique<Server>(path("socket"));
  const Backend cpu = open_backend("cpu");
  const Model cpu_model = load_model(cpu.get());
  const Session cpu_session = create_session(cpu_model.get());
  const std::string cpu_text = generate(cpu_session.get());
  Running running;
  ASSERT_TRUE(dispatch_until(
      running.loop.get(), [&] { return running.generation.text.size() > 10; }));

  server->kill();
  ASSERT_TRUE(dispatch_until(running.loop.get(),
                             [&] { return running.generation.ended; }));
  EXPECT_EQ(running.generation.report.status, RC_E_DEVICE_LOST)
      << running.generation.message;
  EXPECT_NE(running.generation.message.find("process has ended"),
            std::string::npos)
      << running.generation.message;

  // Everything of that device is lost, nothing of another is.
  char* text = nullptr;
  const rc_generate_options options = greedy(4);
  EXPECT_FAILS(
      RC_E_DEVICE_LOST,
      rc_generate(running.session.get(), &options, &text, nullptr, nullptr),
      "open");
  rc_free(text);
  EXPECT_EQ(generate(cpu_session.get()), cpu_text);
  rc_backend* none = nullptr;
  EXPECT_FAILS(RC_E_BACKEND_UNAVAILABLE,
               rc_backend_open("remote", nullptr, &none), "answers");

  // The path that the dead one left is no obstacle. The old handles are still
  // there.
  server = std::make_unique<Server>(path("socket"));
  const Backend again = open_backend("remote");
  const Model model = load_model(again.get());
  EXPECT_NE(generate(create_session(model.get()).get()), "");
}

// The served module has three ops.
TEST_F(Remote, WhatItLacksRunsOnTheCpu) {
  Server server(path("socket"), RC_SERVED_EXAMPLE);
  ASSERT_OK(rc_plugin_load(RC_SERVED_EXAMPLE));
  EXPECT_EQ(fable("remote,cpu"), fable("example,cpu"));

  Running running("remote,cpu");
  ASSERT_TRUE(dispatch_until(
      running.loop.get(), [&] { return running.generation.text.size() > 10; }));
  server.kill();
  ASSERT_TRUE(dispatch_until(running.loop.get(),
                             [&] { return running.generation.ended; }));
  EXPECT_EQ(running.generation.report.status, RC_E_DEVICE_LOST)
      << running.generation.message;
}

TEST_F(Remote, ASilentServerIsALostDevice) {
  setenv("RUNCIBLE_REMOTE_TIMEOUT_MS", "3000", 1);
  const Server server(path("socket"));
  Running running;
  ASSERT_TRUE(dispatch_until(
      running.loop.get(), [&] { return running.generation.text.size() > 10; }));
  server.signal(SIGSTOP);
  ASSERT_TRUE(dispatch_until(running.loop.get(),
                             [&] { return running.generation.ended; }));
  EXPECT_EQ(running.generation.report.status, RC_E_DEVICE_LOST);
  EXPECT_NE(running.generation.message.find("silent for 3000 ms"),
            std::string::npos)
      << running.generation.message;
}

TEST_F(Remote, ARunIsCancelled) {
  pass_self_tests();
  const Server server(path("socket"), RC_SERVED, true);
  Running running;
  ASSERT_TRUE(features_end_with("runs 1")) << features();
  ASSERT_OK(rc_request_cancel(running.request.get()));
  ASSERT_TRUE(dispatch_until(running.loop.get(),
                             [&] { return running.generation.ended; }));
  EXPECT_EQ(running.generation.report.status, RC_E_CANCELLED);
}

TEST_F(Remote, ARunEndsWithItsTime) {
  pass_self_tests();
  const Server server(path("socket"), RC_SERVED, true);
  rc_backend_options limits = RC_BACKEND_OPTIONS_INIT;
  limits.timeout_ms = 100;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open("remote", &limits, &opened));
  const Backend backend(opened);
  const Model model = load_model(backend.get());
  const Session session = create_session(model.get());
  const rc_generate_options options = greedy(4);
  char* text = nullptr;
  EXPECT_FAILS(RC_E_TIMEOUT,
               rc_generate(session.get(), &options, &text, nullptr, nullptr),
               "100 ms");
  rc_free(text);
}

// Of a client that goes away in the middle of a run nothing stays.
TEST_F(Remote, WhatAVanishedClientHadIsGivenBack) {
  pass_self_tests();
  const Server server(path("socket"), RC_SERVED, true);
  Proxy proxy(path("proxy"), server.path());
  use(path("proxy"));
  Running running;
  ASSERT_TRUE(features_end_with("runs 1")) << features();
  proxy.cut();
  ASSERT_TRUE(dispatch_until(running.loop.get(),
                             [&] { return running.generation.ended; }));
  EXPECT_EQ(running.generation.report.status, RC_E_DEVICE_LOST);
  use(server.path());
  EXPECT_TRUE(features_end_with("live 0, runs 0")) << features();
}

// Each byte of what the server says, in turn but not all, is wrong: there is a
// status or a text, and both processes live.
TEST_F(Remote, NonsenseFromTheServerIsAStatus) {
  const Server server(path("socket"));
  Proxy proxy(path("proxy"), server.path());
  use(path("proxy"));
  proxy.corrupt(-1);
  ASSERT_TRUE(walk());
  const int64_t bytes = proxy.bytes();
  ASSERT_GT(bytes, 1000);
  // A length that is too large is waited for in vain.
  setenv("RUNCIBLE_REMOTE_TIMEOUT_MS", "50", 1);
  int failures = 0;
  for (int64_t n = 0; n < bytes; n += 1 + n / 8) {
    proxy.corrupt(n);
    if (walk()) continue;
    ++failures;
    EXPECT_STRNE(rc_error_message(), "");
  }
  EXPECT_GT(failures, 10);
  proxy.corrupt(-1);
  setenv("RUNCIBLE_REMOTE_TIMEOUT_MS", "20000", 1);
  EXPECT_TRUE(walk());
}

// One who speaks with the server by hand.
class Stranger {
 public:
  explicit Stranger(const std::string& path) : socket_(connect_to(path)) {}
  ~Stranger() { close(socket_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  void send(const std::string& bytes) const {
    ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  void frame(int32_t code, const std::string& payload) const {
    send(number(static_cast<uint32_t>(payload.size())) + number(code) +
         payload);
  }
  // Waits for an answer; its status, or 1 if the server has hung up.
  int32_t status() const {
    while (true) {
      uint32_t header[2];
      if (recv(socket_, header, sizeof header, MSG_WAITALL) != sizeof header) {
        return 1;
      }
      std::string payload(header[0], ' ');
      if (!payload.empty() &&
          recv(socket_, payload.data(), payload.size(), MSG_WAITALL) <= 0) {
        return 1;
      }
      // The other frames only tell that the server lives.
      if (header[1] != 1) return static_cast<int32_t>(header[1]);
    }
  }
  int32_t greet() const {
    frame(1, number(0x65746d72u) + number(2u));
    return status();
  }
  int32_t open() const {
    frame(4, number(0) + number(1) + number(0));
    return status();
  }

  template <class T>
  static std::string number(T value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  }

 private:
  int socket_;
};

TEST_F(Remote, StrangersAreShownOut) {
  const Server server(path("socket"));
  for (const std::string& words :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(8, '\xff'),
        std::string(64, '\0'), Stranger::number(uint64_t{4} << 32 | 4)}) {
    const Stranger stranger(server.path());
    stranger.send(words);
    // Half a frame is waited for; a whole one that is no greeting is not.
    if (words.size() >= 64 || words[0] == '\xff') {
      EXPECT_EQ(stranger.status(), 1);
    }
  }
  const Stranger late(server.path());
  late.frame(1, Stranger::number(0x65746d72u) + Stranger::number(999u));
  EXPECT_EQ(late.status(), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(late.status(), 1);
  const Stranger good(server.path());
  EXPECT_EQ(good.greet(), RC_OK);
  EXPECT_EQ(good.greet(), RC_OK);
}

// Calls out of order, with numbers that mean nothing and of every length.
TEST_F(Remote, NonsenseFromAClientIsAStatus) {
  const Server server(path("socket"));
  std::mt19937 random(5);
  for (int turn = 0; turn < 20; ++turn) {
    const Stranger stranger(server.path());
    ASSERT_EQ(stranger.greet(), RC_OK);
    if (turn % 2 == 1) {
      ASSERT_EQ(stranger.open(), RC_OK);
    }
    for (int i = 0; i < 100; ++i) {
      std::string payload;
      const size_t numbers = random() % 30;
      for (size_t k = 0; k < numbers; ++k) {
        payload += random() % 8 == 0
                       ? Stranger::number(static_cast<uint32_t>(random()))
                       : Stranger::number(static_cast<uint32_t>(random() % 4));
      }
      payload.resize(payload.size() - (numbers > 0 ? random() % 4 : 0));
      const auto code = static_cast<int32_t>(random() % 20);
      // Memory without measure is the module's to give.
      if (code == 9) continue;
      stranger.frame(code, payload);
      ASSERT_LE(stranger.status(), 0) << "code " << code;
    }
  }
  EXPECT_TRUE(features_end_with("live 0, runs 0")) << features();
  EXPECT_NE(fable("remote"), "");
}

// What a good client says, with a few wrong bytes in one frame after the other.
TEST_F(Remote, WrongBytesFromAClientAreAStatus) {
  const Server server(path("socket"));
  std::string speech;
  {
    Proxy proxy(path("proxy"), server.path());
    use(path("proxy"));
    ASSERT_TRUE(walk());
    use(server.path());
    // It is known when the connection has ended.
    ASSERT_TRUE(features_end_with("live 0, runs 0"));
    proxy.cut();
    const auto end = Clock::now() + std::chrono::milliseconds(kAnswerMs);
    while ((speech = proxy.longest_speech()).empty() && Clock::now() < end) {
    }
  }
  std::vector<std::string> frames;
  for (size_t at = 0; at + 8 <= speech.size(); at += frames.back().size()) {
    uint32_t payload = 0;
    std::memcpy(&payload, speech.data() + at, sizeof payload);
    frames.push_back(speech.substr(at, 8 + size_t{payload}));
  }
  ASSERT_GT(frames.size(), 50u);
  std::mt19937 random(7);
  constexpr int32_t kCreateBuffer = 9;
  constexpr int32_t kCompile = 14;
  for (size_t wrong = 1; wrong < frames.size(); ++wrong) {
    std::string bad = frames[wrong];
    int32_t code = 0;
    std::memcpy(&code, bad.data() + 4, sizeof code);
    // Memory without measure is the module's to give or refuse.
    if (code == kCreateBuffer) continue;
    const size_t most = bad.size() - (code == kCompile ? 32 : 0);
    // Of an op that is asked about there are many.
    if (most <= 8 || (bad.size() == frames[wrong - 1].size() && wrong % 8)) {
      continue;
    }
    const int variants = code >= kCompile ? 8 : 1;
    for (int variant = 0; variant < variants; ++variant) {
      bad = frames[wrong];
      for (int i = 0; i <= variant % 3; ++i) {
        bad[8 + random() % (most - 8)] = static_cast<char>(random());
      }
      const Stranger stranger(server.path());
      for (size_t i = 0; i < frames.size(); ++i) {
        stranger.send(i == wrong ? bad : frames[i]);
        ASSERT_LE(stranger.status(), 0) << "after frame " << wrong;
        if (i == wrong + 8) break;
      }
    }
  }
  EXPECT_TRUE(features_end_with("live 0, runs 0")) << features();
}

}  // namespace
}  // namespace rc::test
