// Reading the small texts of which a custom op is made: its signature, its
// attributes, its expressions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rc::compute {

class CustomText {
 public:
  // `option` is the text in messages, "signature". Both outlive this.
  CustomText(const char* option, std::string_view text)
      : option_(option), text_(text) {}

  bool at_end();
  // Whether the text goes on so; nothing is read.
  bool next_is(std::string_view mark);
  bool next_is_digit();
  // Takes it, if it comes next.
  bool take(std::string_view mark);
  // Throws as fail_here unless it comes next.
  void need(std::string_view mark);
  // Letters, digits and '_', no digit first.
  std::string_view name(const char* what);
  // At least 0, less than 2^31.
  int64_t number();

  // Throws RC_E_INVALID_ARGUMENT with the place.
  [[noreturn]] void fail_here(const std::string& why);

 private:
  void skip_spaces();

  const char* const option_;
  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace rc::compute
