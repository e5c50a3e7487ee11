// The library's own loop in WebAssembly is the event loop of JavaScript: its
// functions exist on one thread alone, and it is the loop of calls that name
// none.
#include "base/error.h"
#include "base/event_loop.h"
#include "engine/delivery_queue.h"
#include "engine/loop.h"
#include "engine/loop_in_flight.h"

namespace rc::engine {
namespace {

void deliver();
constinit EventLoopTask delivering(deliver);

class OwnLoop final : public Loop {
 public:
  void enter(const std::shared_ptr<InFlight>& in_flight) override {
    in_flight_.enter(in_flight);
  }

  void leave(const InFlight* in_flight) noexcept override {
    in_flight_.leave(in_flight);
  }

  void post(std::unique_ptr<Delivery> delivery) noexcept override {
    if (queue_.push(std::move(delivery))) delivering.soon();
  }

  void close() noexcept override {}
  void abandon() noexcept override {}

  WaitHandle wait_handle() override { refuse(); }
  size_t dispatch(size_t) override { refuse(); }
  void wait(int64_t) override { refuse(); }

  // One batch: what its callbacks cause comes after the page's other events.
  void deliver() {
    if (!queue_.fetch()) return;
    while (const std::unique_ptr<Delivery> delivery = queue_.next()) {
      delivery->run();
    }
  }

 private:
  [[noreturn]] static void refuse() {
    fail(RC_E_INVALID_ARGUMENT, "loop: the library's own cannot be dispatched");
  }

  DeliveryQueue queue_;
  InFlightSet in_flight_;
};

// Never destroyed: engines may post while the program ends.
const std::shared_ptr<OwnLoop>& own_loop() {
  static const auto& loop =
      *new std::shared_ptr<OwnLoop>(std::make_shared<OwnLoop>());
  return loop;
}

void deliver() { own_loop()->deliver(); }

}  // namespace

std::shared_ptr<Loop> Loop::own() { return own_loop(); }

}  // namespace rc::engine
