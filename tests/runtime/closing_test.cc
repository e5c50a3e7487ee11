#include "runtime/closing.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace rc::runtime {
namespace {

// Records the calls of the plugin; there is no device behind the handle.
struct Closed {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;
  std::thread::id thread;
  rc_plugin_device* device = nullptr;
  bool fails = false;
  bool held = false;  // closing waits until it is not
};

Closed& closed() {
  static Closed only;
  return only;
}

rc_plugin_device* a_device() {
  static int place;
  return reinterpret_cast<rc_plugin_device*>(&place);
}

rc_plugin plugin() {
  rc_plugin table = {};
  table.close = [](rc_plugin_device* device) {
    std::unique_lock lock(closed().mutex);
    closed().changed.wait(lock, [] { return !closed().held; });
    ++closed().count;
    closed().thread = std::this_thread::get_id();
    closed().device = device;
    closed().changed.notify_all();
    if (closed().fails) throw std::runtime_error("the driver is in a bad mood");
  };
  return table;
}

class Closing : public testing::Test {
 protected:
  Closing() {
    const std::lock_guard lock(closed().mutex);
    closed().count = 0;
    closed().fails = closed().held = false;
  }
  static void wait_for_close() {
    std::unique_lock lock(closed().mutex);
    closed().changed.wait(lock, [] { return closed().count == 1; });
  }
  static void let_close() {
    const std::lock_guard lock(closed().mutex);
    closed().held = false;
    closed().changed.notify_all();
  }
  const rc_plugin table_ = plugin();
};

TEST_F(Closing, DoesNotBlockTheCaller) {
  closed().held = true;
  close_device(table_, a_device());
  {
    // It returned although closing can't have come to its end.
    const std::lock_guard lock(closed().mutex);
    EXPECT_EQ(closed().count, 0);
  }
  let_close();
  wait_for_close();
  EXPECT_NE(closed().thread, std::this_thread::get_id());
  EXPECT_EQ(closed().device, a_device());
}

TEST_F(Closing, OpeningWaitsForClosingOfTheSamePlugin) {
  closed().held = true;
  close_device(table_, a_device());
  const rc_plugin other = plugin();
  finish_closing(other);
  {
    const std::lock_guard lock(closed().mutex);
    EXPECT_EQ(closed().count, 0);
  }
  std::thread waits([&] {
    finish_closing(table_);
    const std::lock_guard lock(closed().mutex);
    EXPECT_EQ(closed().count, 1);
  });
  let_close();
  waits.join();
}

TEST_F(Closing, CanRunOnTheThreadOfTheCaller) {
  close_device_here(table_, a_device());
  EXPECT_EQ(closed().count, 1);
  EXPECT_EQ(closed().thread, std::this_thread::get_id());
}

TEST_F(Closing, APluginMayThrow) {
  closed().fails = true;
  close_device_here(table_, a_device());
  EXPECT_EQ(closed().count, 1);
  closed().count = 0;
  close_device(table_, a_device());
  wait_for_close();
  finish_closing(table_);
}

}  // namespace
}  // namespace rc::runtime
