// A file descriptor that is closed with its owner.
#pragma once

#include <utility>

namespace rc {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept
      : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    reset(std::exchange(other.number_, -1));
    return *this;
  }
  ~Descriptor() { reset(); }

  // Negative: none.
  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  int release() noexcept { return std::exchange(number_, -1); }
  void reset(int number = -1) noexcept;
  // Closes it, which is the last occasion to learn that a write has failed:
  // then returns false, with the reason in errno. Requires: it is open.
  bool close() noexcept;

 private:
  int number_ = -1;
};

}  // namespace rc
