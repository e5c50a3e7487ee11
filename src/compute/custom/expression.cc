#include "compute/custom/expression.h"

#include <algorithm>

#include "base/error.h"

namespace rc::compute {
namespace {

// Parentheses within parentheses, so that no text takes too much of the stack.
constexpr int kDeepest = 64;

int place(const std::vector<std::string>& list, std::string_view name) {
  const auto found = std::find(list.begin(), list.end(), name);
  return found == list.end() ? CustomNames::kNone
                             : static_cast<int>(found - list.begin());
}

}  // namespace

int CustomNames::find(std::string_view name) const {
  return place(names, name);
}

int CustomNames::find_elements(std::string_view tensor) const {
  return place(tensors, tensor);
}

Expression::Expression(CustomText& text, const CustomNames& names) {
  sum(text, names, 0);
}

void Expression::sum(CustomText& text, const CustomNames& names, int depth) {
  if (depth > kDeepest) text.fail_here("parentheses are nested too deeply");
  product(text, names, depth);
  for (;;) {
    // In a signature "->" may follow an expression.
    if (text.next_is("->")) return;
    const Kind kind = text.take("+")   ? kAdd
                      : text.take("-") ? kSubtract
                                       : kNumber;
    if (kind == kNumber) return;
    product(text, names, depth);
    steps_.push_back({kind, 0});
  }
}

void Expression::product(CustomText& text, const CustomNames& names,
                         int depth) {
  factor(text, names, depth);
  for (;;) {
    const Kind kind = text.take("*")   ? kMultiply
                      : text.take("/") ? kDivide
                                       : kNumber;
    if (kind == kNumber) return;
    factor(text, names, depth);
    steps_.push_back({kind, 0});
  }
}

void Expression::factor(CustomText& text, const CustomNames& names, int depth) {
  if (text.next_is_digit()) {
    steps_.push_back({kNumber, text.number()});
    return;
  }
  if (text.take("-")) {
    if (depth > kDeepest) text.fail_here("signs are nested too deeply");
    steps_.push_back({kNumber, 0});
    factor(text, names, depth + 1);
    steps_.push_back({kSubtract, 0});
    return;
  }
  if (text.take("(")) {
    sum(text, names, depth + 1);
    return text.need(")");
  }
  const std::string_view name = text.name("a number or a name");
  if ((name == "min" || name == "max") && text.take("(")) {
    sum(text, names, depth + 1);
    text.need(",");
    sum(text, names, depth + 1);
    text.need(")");
    steps_.push_back({name == "min" ? kLeast : kMost, 0});
    return;
  }
  if (name == "elements" && text.take("(")) {
    const std::string_view tensor = text.name("the name of a tensor");
    const int found = names.find_elements(tensor);
    if (found == CustomNames::kNone) {
      text.fail_here(cat("no tensor before this has the name ", tensor));
    }
    text.need(")");
    steps_.push_back({kPlace, found});
    return;
  }
  const int found = names.find(name);
  if (found == CustomNames::kNone) {
    text.fail_here(cat(name,
                       " is neither a dimension of an input nor an attribute "
                       "of type int"));
  }
  steps_.push_back({kPlace, found});
}

int64_t Expression::evaluate(std::span<const int64_t> numbers,
                             const std::string& what) const {
  std::vector<int64_t> stack;
  for (const Step& step : steps_) {
    if (step.kind == kNumber) {
      stack.push_back(step.value);
      continue;
    }
    if (step.kind == kPlace) {
      stack.push_back(numbers[static_cast<size_t>(step.value)]);
      continue;
    }
    const int64_t b = stack.back();
    stack.pop_back();
    int64_t& a = stack.back();
    const int64_t before = a;
    bool fits = true;
    switch (step.kind) {
      case kAdd:
        fits = !__builtin_add_overflow(before, b, &a);
        break;
      case kSubtract:
        fits = !__builtin_sub_overflow(before, b, &a);
        break;
      case kMultiply:
        fits = !__builtin_mul_overflow(before, b, &a);
        break;
      case kLeast:
        a = std::min(before, b);
        break;
      case kMost:
        a = std::max(before, b);
        break;
      default:
        if (b == 0) {
          fail(RC_E_INVALID_ARGUMENT, what, ": ", before, " is divided by 0");
        }
        fits = before != INT64_MIN || b != -1;
        if (!fits) break;
        a = before / b;
        if (before % b != 0 && (before < 0) != (b < 0)) --a;
    }
    if (!fits) {
      fail(RC_E_INVALID_ARGUMENT, what, ": ", before, " ",
           static_cast<char>(step.kind), " ", b, " is beyond 64 bits");
    }
  }
  return stack.back();
}

}  // namespace rc::compute
