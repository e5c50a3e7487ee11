// Deliveries on their way from any number of threads to one.
//
// push() is lock-free: one compare-and-swap on the head of a list that the
// reader takes whole and turns around. The reader's side (fetch, next, empty)
// belongs to one thread at a time.
#pragma once

#include <atomic>
#include <memory>

#include "engine/loop.h"

namespace rc::engine {

class DeliveryQueue {
 public:
  DeliveryQueue() = default;
  DeliveryQueue(const DeliveryQueue&) = delete;
  DeliveryQueue& operator=(const DeliveryQueue&) = delete;
  ~DeliveryQueue() {
    discard_arrived();
    discard_batch();
  }

  // True if nothing had arrived since the reader looked: wake it then.
  bool push(std::unique_ptr<Delivery> delivery) noexcept {
    Delivery* added = delivery.release();
    Delivery* head = arrived_.load(std::memory_order_relaxed);
    do {
      added->next_ = head;
    } while (!arrived_.compare_exchange_weak(head, added,
                                             std::memory_order_seq_cst));
    return head == nullptr;
  }

  // Takes what has arrived into the reader's batch, if that is used up; false
  // if there is nothing.
  bool fetch() noexcept {
    if (batch_ != nullptr) return true;
    Delivery* newest = arrived_.exchange(nullptr, std::memory_order_seq_cst);
    while (newest != nullptr) {  // turn around: oldest first
      Delivery* next = newest->next_;
      newest->next_ = batch_;
      batch_ = newest;
      newest = next;
    }
    return batch_ != nullptr;
  }

  // The oldest of the batch; nullptr if it is used up.
  std::unique_ptr<Delivery> next() noexcept {
    Delivery* const oldest = batch_;
    if (oldest != nullptr) batch_ = oldest->next_;
    return std::unique_ptr<Delivery>(oldest);
  }

  bool holds_batch() const noexcept { return batch_ != nullptr; }

  bool empty() const noexcept {
    return batch_ == nullptr &&
           arrived_.load(std::memory_order_seq_cst) == nullptr;
  }

  // Drops what has arrived; any thread.
  void discard_arrived() noexcept {
    Delivery* list = arrived_.exchange(nullptr, std::memory_order_seq_cst);
    while (list != nullptr) {
      std::unique_ptr<Delivery> dropped(list);
      list = dropped->next_;
    }
  }
  // Drops the batch; the reader.
  void discard_batch() noexcept {
    while (batch_ != nullptr) {
      const std::unique_ptr<Delivery> dropped(batch_);
      batch_ = dropped->next_;
    }
  }

 private:
  std::atomic<Delivery*> arrived_{nullptr};  // newest first
  Delivery* batch_ = nullptr;                // oldest first
};

}  // namespace rc::engine
