// Messages of loops that are read by a thread.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "engine/loop_util.h"
#include "expect_error.h"

namespace rc::engine {
namespace {

using rc::test::expect_error;

TEST(LoopErrors, TimeoutErrorNamesTheTime) {
  const auto loop = Loop::watched();
  expect_error(RC_E_TIMEOUT, "no event waits", [&] { loop->wait(0); });
  for (const int64_t time : {1, 20}) {
    expect_error(RC_E_TIMEOUT,
                 "no event came within " + std::to_string(time) + " ms",
                 [&] { loop->wait(time); });
  }
  int runs = 0;
  test::post(*loop, [&] { ++runs; });
  for (const int64_t time : {0, 1, -1}) EXPECT_NO_THROW(loop->wait(time));
  EXPECT_EQ(loop->dispatch(0), 1u);
  EXPECT_EQ(runs, 1);
}

TEST(LoopErrors, WaitOnAClosedIdleLoopIsAnError) {
  const auto loop = Loop::watched();
  const auto flight = std::make_shared<test::Flight>();
  loop->enter(flight);
  loop->close();
  expect_error(RC_E_TIMEOUT, "no event waits", [&] { loop->wait(0); });
  loop->leave(flight.get());
  for (const int64_t time : {0, -1}) {
    expect_error(RC_E_CLOSED,
                 "the loop is closed and no request is in flight on it",
                 [&] { loop->wait(time); });
  }
}

TEST(LoopErrors, SecondConcurrentReaderIsRefused) {
  const auto loop = Loop::watched();
  const std::string message =
      "the loop is being dispatched or waited for: one thread at a time may, "
      "and no callback";
  int runs = 0;
  test::post(*loop, [&] {
    ++runs;
    expect_error(RC_E_BUSY, message, [&] { loop->dispatch(0); });
    expect_error(RC_E_BUSY, message, [&] { loop->wait(0); });
  });
  EXPECT_EQ(loop->dispatch(0), 1u);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(loop->dispatch(0), 0u);  // afterwards it may
}

}  // namespace
}  // namespace rc::engine
