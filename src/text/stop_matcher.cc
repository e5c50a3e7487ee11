#include "text/stop_matcher.h"

#include <algorithm>
#include <utility>

namespace rc::text {
namespace {

// The length of the matched beginning of `text` after one more byte.
size_t advance(const std::string& text, const std::vector<size_t>& shorter,
               size_t matched, char byte) {
  while (matched > 0 && text[matched] != byte) matched = shorter[matched];
  return text[matched] == byte ? matched + 1 : 0;
}

}  // namespace

StopMatcher::StopMatcher(std::vector<std::string> stops) {
  std::vector<Pattern> patterns;
  for (std::string& stop : stops) {
    if (stop.empty()) continue;
    std::vector<size_t> shorter(stop.size() + 1, 0);
    for (size_t i = 1; i < stop.size(); ++i) {
      shorter[i + 1] = advance(stop, shorter, shorter[i], stop[i]);
    }
    patterns.push_back({std::move(stop), std::move(shorter)});
  }
  matched_.assign(patterns.size(), 0);
  patterns_ = std::make_shared<const std::vector<Pattern>>(std::move(patterns));
}

StopMatcher::Result StopMatcher::push(std::string_view text) {
  Result result;
  if (!stop_.empty()) {
    result.stopped = true;
    return result;
  }
  std::string pending = held_;
  pending.append(text);
  std::vector<size_t> matched = matched_;
  std::string_view stop;
  size_t keep = 0;  // bytes at the end that could begin a stop string
  size_t at = held_.size();
  for (; at < pending.size() && stop.empty(); ++at) {
    keep = 0;
    for (size_t i = 0; i < matched.size(); ++i) {
      const Pattern& pattern = (*patterns_)[i];
      matched[i] =
          advance(pattern.text, pattern.shorter, matched[i], pending[at]);
      keep = std::max(keep, matched[i]);
      if (matched[i] == pattern.text.size() && matched[i] > stop.size()) {
        stop = pattern.text;
      }
    }
  }
  if (text.empty()) keep = held_.size();
  result.stopped = !stop.empty();
  const size_t end = result.stopped ? at - stop.size() : pending.size() - keep;
  result.text = pending.substr(0, end);
  // From here on nothing throws: a failed push changes nothing.
  pending.erase(0, result.stopped ? pending.size() : end);
  held_.swap(pending);
  matched_.swap(matched);
  stop_ = stop;
  return result;
}

std::string StopMatcher::finish() {
  std::string out = std::exchange(held_, std::string());
  matched_.assign(matched_.size(), 0);
  return out;
}

}  // namespace rc::text
