#include "runtime/closing.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "base/compute_thread.h"
#include "base/log.h"
#include "base/loop_thread.h"
#include "base/threads.h"

namespace rc::runtime {
namespace {

// A driver that does not come back must not keep the process from ending.
constexpr std::chrono::seconds kExitPatience(5);

// How many are under way.
class UnderWay {
 public:
  // Lives as long as the process: threads come back to it while that ends.
  static UnderWay& get() {
    static UnderWay* const only = [] {
      auto* made = new UnderWay;
      // If the registration fails the end merely does not wait. What drivers
      // have registered when they were loaded comes after it.
      static_cast<void>(std::atexit([] { get().wait(); }));
      return made;
    }();
    return *only;
  }

  void begin() noexcept {
    const std::lock_guard lock(mutex_);
    ++count_;
  }
  void end() noexcept {
    const std::lock_guard lock(mutex_);
    --count_;
    changed_.notify_all();
  }

 private:
  // A child that was forked has none of its parent's threads.
  void wait() noexcept {
    if (::getpid() != process_) return;
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kExitPatience, [this] { return count_ == 0; });
  }

  const pid_t process_ = ::getpid();
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

}  // namespace

void close_device(const rc_plugin& plugin, rc_plugin_device* device) noexcept {
  try {
    plugin.close(device);
  } catch (...) {
    log(RC_LOG_ERROR, "a plugin threw an exception while closing a device");
  }
}

bool close_off_loop(const rc_plugin& plugin,
                    rc_plugin_device* device) noexcept {
  if (!kThreads || !is_loop_thread()) return false;
  try {
    UnderWay& under_way = UnderWay::get();
    under_way.begin();
    try {
      std::thread([&plugin, device, &under_way] {
        become_compute_thread();
        close_device(plugin, device);
        under_way.end();
      }).detach();
    } catch (...) {
      under_way.end();
      throw;
    }
    return true;
  } catch (...) {
    return false;  // no memory, or the system refuses a thread
  }
}

}  // namespace rc::runtime
