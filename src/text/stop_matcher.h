// Ends a stream of text at the first of several stop strings.
//
// Text that could be the beginning of a stop string is held back until it is
// known not to be one. The result does not depend on how the stream is cut: the
// stop string that is complete first counts, of several the longest.
//
// Time is in proportion to the text and the number of stop strings, whatever
// they are. Not for several threads at a time; a copy goes on independently and
// shares the strings.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rc::text {

class StopMatcher {
 public:
  StopMatcher() : StopMatcher(std::vector<std::string>()) {}
  // Empty stop strings are left out.
  explicit StopMatcher(std::vector<std::string> stops);

  struct Result {
    std::string text;      // safe to emit
    bool stopped = false;  // a stop string is complete; text goes up to it
  };
  // After a stop everything is swallowed.
  Result push(std::string_view text);

  // The text that is held back, at the end of a stream without a stop.
  std::string finish();

  // The stop string that was met, or "".
  std::string_view stop() const { return stop_; }

 private:
  struct Pattern {
    std::string text;
    // For each length of a matched beginning the longest shorter one that it
    // ends with (Knuth, Morris, Pratt).
    std::vector<size_t> shorter;
  };
  std::shared_ptr<const std::vector<Pattern>> patterns_;
  std::vector<size_t> matched_;  // bytes, of each pattern
  std::string held_;
  std::string_view stop_;  // into patterns_
};

}  // namespace rc::text
