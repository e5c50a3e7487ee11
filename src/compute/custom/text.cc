#include "compute/custom/text.h"

#include <algorithm>

#include "base/error.h"

namespace rc::compute {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

}  // namespace

void CustomText::skip_spaces() {
  at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
}

bool CustomText::at_end() {
  skip_spaces();
  return at_ == text_.size();
}

bool CustomText::next_is(std::string_view mark) {
  skip_spaces();
  return text_.substr(at_).starts_with(mark);
}

bool CustomText::next_is_digit() { return !at_end() && is_digit(text_[at_]); }

bool CustomText::take(std::string_view mark) {
  if (!next_is(mark)) return false;
  at_ += mark.size();
  return true;
}

void CustomText::need(std::string_view mark) {
  if (!take(mark)) fail_here(cat("\"", mark, "\" is missing"));
}

std::string_view CustomText::name(const char* what) {
  skip_spaces();
  size_t end = at_;
  while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end])))
    ++end;
  if (end == at_ || is_digit(text_[at_])) fail_here(cat(what, " is missing"));
  const std::string_view found = text_.substr(at_, end - at_);
  at_ = end;
  return found;
}

int64_t CustomText::number() {
  if (!next_is_digit()) fail_here("a number is missing");
  int64_t value = 0;
  for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
    value = 10 * value + (text_[at_] - '0');
    if (value > INT32_MAX) fail_here("the number is above 2147483647");
  }
  return value;
}

void CustomText::fail_here(const std::string& why) {
  constexpr size_t kShown = 40;
  const bool ended = at_end();
  const std::string_view rest = text_.substr(at_, kShown);
  fail(RC_E_INVALID_ARGUMENT, "options->", option_, ": ", why,
       ended ? " at the end of \"" : " before \"",
       ended ? text_.substr(text_.size() > kShown ? text_.size() - kShown : 0)
             : rest,
       "\"");
}

}  // namespace rc::compute
