// Cutting text by a regular expression (PCRE2, with Unicode properties).
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "text/span.h"
#include "text/stop_check.h"

struct pcre2_real_code_8;

namespace rc::text {

// Never changes after it was made: any thread may use it.
class Regex {
 public:
  // The pattern is part of the program. Throws RC_E_INTERNAL
  // if it does not compile.
  explicit Regex(std::string_view pattern);
  // A pattern of a file, where ^ and $ are at lines. Throws RC_E_UNSUPPORTED
  // with `where`, `original` (the pattern as the file has it) and the place if
  // it does not compile.
  static Regex from_file(std::string_view pattern, std::string_view original,
                         std::string_view where);

  // Appends the matches in the text and what lies between them, in order; none
  // is empty. `text` must be valid UTF-8; the pieces point into it. Throws
  // RC_E_INVALID_ARGUMENT if the text makes matching take more than it may.
  void split(std::string_view text, StopCheck* stop,
             std::vector<std::string_view>* pieces) const;

  // The matches in the text, in order; empty ones too, but none right behind
  // another match. Otherwise as split.
  std::vector<Span> find_all(std::string_view text, StopCheck* stop) const;

 private:
  Regex() = default;
  struct FreeCode {
    void operator()(pcre2_real_code_8* code) const;
  };
  std::unique_ptr<pcre2_real_code_8, FreeCode> code_;
};

}  // namespace rc::text
