// Numbers that follow from the shapes and attributes of a call: "n / 2 + 1".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/custom/text.h"

namespace rc::compute {

// The names that expressions can use, by places: the dimensions that inputs
// name, the attributes of type int, and the elements of each tensor.
struct CustomNames {
  static constexpr int kNone = -1;
  std::vector<std::string> names;    // "" for elements
  std::vector<std::string> tensors;  // whose elements, by place; else ""

  // The place of a name, or of the elements of a tensor.
  int find(std::string_view name) const;
  int find_elements(std::string_view tensor) const;
};

class Expression {
 public:
  Expression() = default;
  // Reads all of the text that belongs to an expression.
  Expression(CustomText& text, const CustomNames& names);

  // Throws RC_E_INVALID_ARGUMENT, beginning with `what`, for a division by 0
  // and where 64 bits do not suffice.
  int64_t evaluate(std::span<const int64_t> numbers,
                   const std::string& what) const;

 private:
  enum Kind : char {
    kNumber,
    kPlace,
    kAdd = '+',
    kSubtract = '-',
    kMultiply = '*',
    kDivide = '/',
    kLeast = '<',
    kMost = '>'
  };
  // In the order of computing, each with what is on a stack.
  struct Step {
    Kind kind;
    int64_t value;  // of kNumber and kPlace
  };

  void sum(CustomText& text, const CustomNames& names, int depth);
  void product(CustomText& text, const CustomNames& names, int depth);
  void factor(CustomText& text, const CustomNames& names, int depth);

  std::vector<Step> steps_;
};

}  // namespace rc::compute
