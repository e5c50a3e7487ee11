#include "runtime/closing.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "base/compute_thread.h"
#include "base/process.h"
#include "base/threads.h"
#include "runtime/quietly.h"

namespace rc::runtime {
namespace {

// A driver that does not come back must not keep the process from ending, nor
// other devices from being opened.
constexpr std::chrono::seconds kPatience(5);

#if defined(__EMSCRIPTEN__)
// A page has a fixed number of workers, which the next device to be opened may
// need.
constexpr bool kClosesOnThreads = false;
#else
constexpr bool kClosesOnThreads = kThreads;
#endif

// The plugins of those that are under way, each as often as it has some.
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

  // False: the process ends, and would not wait any more, or is a child that
  // was forked, which has none of its parent's threads.
  bool begin(const rc_plugin& plugin) {
    if (process_id() != process_) return false;
    const std::lock_guard lock(mutex_);
    if (ending_) return false;
    plugins_.push_back(&plugin);
    return true;
  }
  void end(const rc_plugin& plugin) noexcept {
    const std::lock_guard lock(mutex_);
    plugins_.erase(std::find(plugins_.begin(), plugins_.end(), &plugin));
    changed_.notify_all();
  }
  void wait_for(const rc_plugin& plugin) noexcept {
    if (process_id() != process_) return;
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kPatience, [&] {
      return std::find(plugins_.begin(), plugins_.end(), &plugin) ==
             plugins_.end();
    });
  }

 private:
  void wait() noexcept {
    if (process_id() != process_) return;
    std::unique_lock lock(mutex_);
    ending_ = true;
    changed_.wait_for(lock, kPatience, [this] { return plugins_.empty(); });
  }

  const int64_t process_ = process_id();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<const rc_plugin*> plugins_;
  bool ending_ = false;
};

}  // namespace

void close_device_here(const rc_plugin& plugin,
                       rc_plugin_device* device) noexcept {
  quietly("closing a device", [&] { plugin.close(device); });
}

void close_device(const rc_plugin& plugin, rc_plugin_device* device) noexcept {
  if (!kClosesOnThreads) return close_device_here(plugin, device);
  try {
    UnderWay& under_way = UnderWay::get();
    if (!under_way.begin(plugin)) return close_device_here(plugin, device);
    try {
      std::thread([&plugin, device, &under_way] {
        become_compute_thread();
        close_device_here(plugin, device);
        under_way.end(plugin);
      }).detach();
    } catch (...) {
      under_way.end(plugin);
      throw;
    }
  } catch (...) {  // no memory, or the system refuses a thread
    close_device_here(plugin, device);
  }
}

void finish_closing(const rc_plugin& plugin) noexcept {
  try {
    UnderWay::get().wait_for(plugin);
  } catch (...) {
    // No memory for the list: then nothing is under way.
  }
}

}  // namespace rc::runtime
