// Deliveries and requests in flight that do what a test says.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "engine/loop.h"

namespace rc::engine::test {

class Call final : public Delivery {
 public:
  explicit Call(std::function<void()> function)
      : function_(std::move(function)) {}
  void run() noexcept override { function_(); }

 private:
  std::function<void()> function_;
};

inline void post(Loop& loop, std::function<void()> function) {
  loop.post(std::make_unique<Call>(std::move(function)));
}

class Flight final : public InFlight {
 public:
  explicit Flight(std::function<void()> cancel = [] {})
      : cancel_(std::move(cancel)) {}
  void cancel() noexcept override { cancel_(); }

 private:
  std::function<void()> cancel_;
};

}  // namespace rc::engine::test
