// Cutting a text where something matches.
#pragma once

#include <string_view>
#include <vector>

#include "text/span.h"
#include "text/tokenizer_json/json_node.h"

namespace rc::text {

// The fate of a match.
enum class CutBehavior {
  kRemoved,
  kIsolated,            // a separate word
  kMergedWithPrevious,  // the end of the word before
  kMergedWithNext,      // the beginning of the word after
  kContiguous,          // neighbouring matches are one word
};

// Throws RC_E_FORMAT if it is none of the names.
CutBehavior read_behavior(const JsonNode& node);

// A part of a text, and whether it matches.
struct Cut {
  Span span;
  bool is_match;
};

// The matches of a text of this size and what lies between them, in order; with
// `invert` these trade places.
std::vector<Cut> cuts_of(const std::vector<Span>& matches, size_t size,
                         bool invert);

// The words; some may be empty.
std::vector<Span> apply_behavior(const std::vector<Cut>& cuts,
                                 CutBehavior behavior);

}  // namespace rc::text
