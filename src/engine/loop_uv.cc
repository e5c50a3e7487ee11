// A loop on the caller's libuv loop: one uv_async_t, referenced while something
// is in flight.
//
// Everything of libuv but uv_async_send may be called on the loop's thread
// only, so other threads leave a note (wanted reference, wanted closing) and
// wake it.
#include <uv.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "base/caller_thread.h"
#include "base/error.h"
#include "engine/delivery_queue.h"
#include "engine/loop.h"
#include "engine/loop_in_flight.h"

namespace rc::engine {
namespace {

class UvLoop final : public Loop {
 public:
  // The loop keeps itself alive until libuv has closed its handle.
  static std::shared_ptr<UvLoop> create(uv_loop_t* uv_loop) {
    auto loop = std::make_shared<UvLoop>();
    const int error = uv_async_init(uv_loop, &loop->async_, on_async);
    if (error != 0) {
      fail(error == UV_ENOMEM ? RC_E_OUT_OF_MEMORY : RC_E_IO,
           "libuv made no async handle: ", uv_strerror(error));
    }
    loop->async_.data = loop.get();
    uv_unref(loop->handle());
    loop->self_ = loop;
    return loop;
  }

  void enter(const std::shared_ptr<InFlight>& in_flight) override {
    in_flight_.enter(in_flight);
    settle();
  }

  void leave(const InFlight* in_flight) noexcept override {
    in_flight_.leave(in_flight);
  }

  void post(std::unique_ptr<Delivery> delivery) noexcept override {
    if (queue_.push(std::move(delivery))) wake();
  }

  void close() noexcept override {
    in_flight_.close();
    settle();
  }

  void abandon() noexcept override {
    abandoned_.store(true);
    settle();
  }

  WaitHandle wait_handle() override { refuse(); }
  size_t dispatch(size_t) override { refuse(); }
  void wait(int64_t) override { refuse(); }

 private:
  // While callbacks run; they may end the thread.
  class Delivering {
   public:
    explicit Delivering(UvLoop& loop) : loop_(loop) {
      loop_.delivering_ = true;
    }
    ~Delivering() {
      loop_.delivering_ = false;
      loop_.settle_here();
      if (loop_.queue_.holds_batch()) loop_.wake();
    }
    Delivering(const Delivering&) = delete;
    Delivering& operator=(const Delivering&) = delete;

   private:
    UvLoop& loop_;
  };

  uv_handle_t* handle() { return reinterpret_cast<uv_handle_t*>(&async_); }

  [[noreturn]] static void refuse() {
    fail(RC_E_INVALID_ARGUMENT,
         "loop: it delivers on a libuv loop; only loops made by "
         "rc_loop_create have a handle to watch and can be dispatched");
  }

  // A poster may still be about to wake a loop whose last delivery has run
  // already; the lock keeps it from a handle that was closed meanwhile.
  void wake() noexcept {
    std::lock_guard lock(closing_mutex_);
    if (!closing_) uv_async_send(&async_);
  }

  // Brings the handle's reference and closing in line with what is in flight:
  // now if this is the loop's thread, else at its next turn.
  void settle() noexcept {
    if (std::this_thread::get_id() == thread_.load()) {
      if (!delivering_) settle_here();
    } else {
      wake();
    }
  }

  void settle_here() noexcept {
    const size_t count = in_flight_.count();
    if (closing_) return;
    if (count > 0) {
      uv_ref(handle());
      return;
    }
    uv_unref(handle());
    if (abandoned_.load() || in_flight_.finished()) {
      {
        std::lock_guard lock(closing_mutex_);
        closing_ = true;
      }
      uv_close(handle(), on_closed);
    }
  }

  void deliver() {
    const CallerThread inside;
    thread_.store(std::this_thread::get_id());
    const Delivering delivering(*this);
    // One batch: what callbacks cause must not starve the other handles.
    queue_.fetch();
    while (std::unique_ptr<Delivery> delivery = queue_.next()) delivery->run();
  }

  static void on_async(uv_async_t* async) {
    // A callback may give the last reference to this loop back.
    const std::shared_ptr<UvLoop> loop =
        static_cast<UvLoop*>(async->data)->self_;
    loop->deliver();
  }

  static void on_closed(uv_handle_t* handle) {
    static_cast<UvLoop*>(handle->data)->self_.reset();
  }

  uv_async_t async_;
  std::shared_ptr<UvLoop> self_;
  DeliveryQueue queue_;
  InFlightSet in_flight_;
  std::atomic<std::thread::id> thread_{std::this_thread::get_id()};
  std::atomic<bool> abandoned_{false};
  std::mutex closing_mutex_;
  bool closing_ = false;     // written on the loop's thread, under the lock
  bool delivering_ = false;  // of the loop's thread
};

}  // namespace

std::shared_ptr<Loop> Loop::on_uv(struct uv_loop_s* uv_loop) {
  return UvLoop::create(uv_loop);
}

}  // namespace rc::engine
