// The member "pattern" of several components: a text or an expression.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/regex.h"
#include "text/tokenizer_json/json_node.h"

namespace rc::text {

class Pattern {
 public:
  // {"String": ...} or {"Regex": ...}. Throws RC_E_FORMAT or RC_E_UNSUPPORTED.
  explicit Pattern(const JsonNode& node);
  std::vector<Span> find_all(std::string_view text, StopCheck* stop) const {
    return regex_.find_all(text, stop);
  }
  // The text that it looks for, "" if it is an expression.
  const std::string& literal() const { return literal_; }

 private:
  std::string literal_;
  Regex regex_;
};

}  // namespace rc::text
