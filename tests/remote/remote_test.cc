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

#include "remote_fixture.h"

namespace rc::test {
namespace {

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

TEST_F(Remote, WithoutAServerReportsTheReason) {
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

TEST_F(Remote, TextEqualsThatOfTheServedModule) {
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
TEST_F(Remote, UnsupportedOpsRunOnTheCpu) {
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

TEST_F(Remote, RunCanBeCancelled) {
  pass_self_tests();
  const Server server(path("socket"), RC_SERVED, true);
  Running running;
  ASSERT_TRUE(features_end_with("runs 1")) << features();
  ASSERT_OK(rc_request_cancel(running.request.get()));
  ASSERT_TRUE(dispatch_until(running.loop.get(),
                             [&] { return running.generation.ended; }));
  EXPECT_EQ(running.generation.report.status, RC_E_CANCELLED);
}

TEST_F(Remote, RunEndsAtItsTimeout) {
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

// A client disconnects in the middle of a run.
TEST_F(Remote, ServerFreesResourcesOfAVanishedClient) {
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
TEST_F(Remote, CorruptReplyIsAStatus) {
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

}  // namespace
}  // namespace rc::test
