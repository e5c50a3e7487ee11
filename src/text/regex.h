// Cutting text by a regular expression (PCRE2, with Unicode properties).
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "text/stop_check.h"

struct pcre2_real_code_8;

namespace rc::text {

// Never changes after it was made: any thread may use it.
class Regex {
 public:
  // The pattern is part of the program, never of a file. Throws RC_E_INTERNAL
  // if it does not compile.
  explicit Regex(std::string_view pattern);

  // Appends the matches in the text and what lies between them, in order; none
  // is empty. `text` must be valid UTF-8; the pieces point into it. Throws
  // RC_E_INVALID_ARGUMENT if the text makes matching take more than it may.
  void split(std::string_view text, StopCheck* stop,
             std::vector<std::string_view>* pieces) const;

 private:
  struct FreeCode {
    void operator()(pcre2_real_code_8* code) const;
  };
  std::unique_ptr<pcre2_real_code_8, FreeCode> code_;
};

}  // namespace rc::text
