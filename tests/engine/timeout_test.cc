// Steps that are not over in time, on devices that compute within `run`.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/error.h"
#include "engine_util.h"
#include "faulty_device.h"
#include "runtime/wrapped_plugin.h"

namespace rc::engine::test {
namespace {

using rc::test::open_wrapped;
using rc::test::wrap_backend;
using rc::test::WrappedState;

constexpr int64_t kTimeoutMs = 700;

// Goes on to generate until there are so many tokens. On a busy machine a step
// may need longer than its time: then that is its end, and the next one goes on
// from there.
void generate_until(Session& session, int64_t position) {
  for (int i = 0; i < 100 && session.position() < position; ++i) {
    const Result next =
        generate(session, greedy({}, position - session.position()));
    if (next.report.status != RC_E_TIMEOUT) {
      ASSERT_EQ(next.report.status, RC_OK) << next.message;
    }
  }
  EXPECT_EQ(session.position(), position);
}

// The run begins when its time is over.
rc_status run_late(const rc_plugin_run&, char*,
                   const std::function<rc_status()>& inner) {
  std::this_thread::sleep_for(std::chrono::milliseconds(kTimeoutMs + 100));
  return inner();
}

class Timeout : public ::testing::TestWithParam<std::string> {};

TEST_P(Timeout, StopsTheRunAndTheEngineContinues) {
  const std::string name = "late_" + GetParam();
  WrappedState& state = wrap_backend(name, GetParam());
  EngineOptions options = small_options();
  options.timeout_ms = kTimeoutMs;
  const auto engine =
      Engine::load(small_model(), open_wrapped(name), options, {});
  const auto session = engine->create_session({}, nullptr);
  const int before = state.runs;
  state.on_run = run_late;
  const Result late = generate(*session, greedy(some_tokens(40), 4));
  EXPECT_EQ(late.report.reason, RC_END_ERROR);
  EXPECT_EQ(late.report.status, RC_E_TIMEOUT);
  EXPECT_NE(late.message.find("700 ms"), std::string::npos) << late.message;
  EXPECT_EQ(session->position(), 40);
  EXPECT_EQ(state.runs - before, 1);

  session->tokens();  // waits for the end of the step
  state.on_run = {};
  generate_until(*session, 44);
  const auto expected = load()->create_session({}, nullptr);
  generate(*expected, greedy(some_tokens(40), 4));
  EXPECT_EQ(session->tokens(), expected->tokens());
}

INSTANTIATE_TEST_SUITE_P(Backends, Timeout, testing::Values("cpu", "reference"),
                         [](const auto& info) { return info.param; });

// A device that is waited for, and heeds the request to stop.
TEST(Timeout, OfADeviceThatStopsKeepsTheEngineUsable) {
  EngineOptions options = small_options();
  options.timeout_ms = kTimeoutMs;
  const auto engine =
      Engine::load(small_model(), open_faulty_device(), options, {});
  fault_control().fault = Fault::kSlow;
  const auto session = engine->create_session({}, nullptr);
  const Result late = generate(*session, greedy(some_tokens(20), 4));
  EXPECT_EQ(late.report.status, RC_E_TIMEOUT);
  session->tokens();
  EXPECT_EQ(fault_control().cancelled, 1);
  EXPECT_FALSE(engine->device()->lost());
  fault_control().fault = Fault::kNone;
  generate_until(*session, 21);
}

}  // namespace
}  // namespace rc::engine::test
