// Shapes as tensors of people who compute have them: rank 1 to 4, dimensions
// from 0 on, slowest first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"

namespace rc::compute {

inline constexpr int kMaxRank = 4;

// Dimensions, or numbers by dimension. Allocates no memory, since every op
// makes several. More than kMaxRank numbers throw RC_E_INVALID_ARGUMENT.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> numbers)
      : Shape(numbers.begin(), numbers.end()) {}
  Shape(const int64_t* begin, const int64_t* end) {
    put_in(numbers_, begin, end);
  }
  Shape(size_t count, int64_t number) { assign(count, number); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const int64_t* data() const { return numbers_; }
  int64_t* begin() { return numbers_; }
  int64_t* end() { return numbers_ + size_; }
  const int64_t* begin() const { return numbers_; }
  const int64_t* end() const { return numbers_ + size_; }
  int64_t& operator[](size_t i) { return numbers_[i]; }
  int64_t operator[](size_t i) const { return numbers_[i]; }
  int64_t back() const { return numbers_[size_ - 1]; }

  void push_back(int64_t number) { insert(end(), number); }
  // Before `at`, which lies within the shape or is its end.
  void insert(const int64_t* at, int64_t number) {
    put_in(at, &number, &number + 1);
  }
  void insert(const int64_t* at, std::initializer_list<int64_t> more) {
    put_in(at, more.begin(), more.end());
  }
  void erase(const int64_t* at) {
    std::copy(at + 1, std::as_const(*this).end(), begin() + (at - begin()));
    --size_;
  }
  void assign(size_t count, int64_t number) {
    size_ = 0;
    check_room(count);
    size_ = count;
    std::fill_n(numbers_, count, number);
  }

  friend bool operator==(const Shape& a, const Shape& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void put_in(const int64_t* at, const int64_t* first, const int64_t* last) {
    const auto more = static_cast<size_t>(last - first);
    check_room(more);
    int64_t* const place = numbers_ + (at - numbers_);
    std::copy_backward(place, end(), end() + more);
    std::copy(first, last, place);
    size_ += more;
  }
  void check_room(size_t more) const {
    if (more > kMaxRank - size_) {
      fail(RC_E_INVALID_ARGUMENT, "rank: ", size_ + more, "; 1 to ", kMaxRank,
           " are possible");
    }
  }

  size_t size_ = 0;
  int64_t numbers_[kMaxRank] = {};
};

// "[2, 3]".
std::string shape_text(const Shape& shape);

// The product of the dimensions; the shape's elements have been counted before.
int64_t element_count(const Shape& shape);

// Distances from element to element along each dimension, in elements.
Shape dense_strides(const Shape& shape);

// nullopt unless each pair of dimensions is equal or holds a 1.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

// A dimension given by a caller, who may count from the end. Throws
// RC_E_INVALID_ARGUMENT.
int resolve(int32_t dimension, const Shape& shape, const char* name);

}  // namespace rc::compute
