#include "text/stop_matcher.h"
#include "labels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace rc::text {
namespace {

// The result of a stream that is cut at the given places.
struct Outcome {
  std::string text;
  bool stopped = false;
  std::string stop;
  bool operator==(const Outcome&) const = default;
};

Outcome run(const std::vector<std::string>& stops, const std::string& text,
            const std::vector<size_t>& sizes) {
  StopMatcher matcher(stops);
  Outcome outcome;
  size_t at = 0;
  for (size_t i = 0; at < text.size(); ++i) {
    const size_t size = i < sizes.size() ? sizes[i] : text.size();
    const StopMatcher::Result result = matcher.push(
        std::string_view(text).substr(at, std::min(size, text.size() - at)));
    at += std::min(size, text.size() - at);
    outcome.text += result.text;
    outcome.stopped = result.stopped;
  }
  outcome.text += matcher.finish();
  outcome.stop = matcher.stop();
  return outcome;
}

// The definition, tried out at each place.
Outcome expected(const std::vector<std::string>& stops,
                 const std::string& text) {
  for (size_t end = 1; end <= text.size(); ++end) {
    std::string best;
    for (const std::string& stop : stops) {
      if (stop.size() > best.size() &&
          std::string_view(text).substr(0, end).ends_with(stop)) {
        best = stop;
      }
    }
    if (!best.empty()) return {text.substr(0, end - best.size()), true, best};
  }
  return {text, false, ""};
}

TEST(StopMatcher, HoldsBackPossibleStopStrings) {
  StopMatcher matcher({"\nUser:"});
  EXPECT_EQ(matcher.push("Hi").text, "Hi");
  EXPECT_EQ(matcher.push("!\nUs").text, "!");
  StopMatcher copy = matcher;
  EXPECT_EQ(matcher.push("e\n").text, "\nUse");
  EXPECT_EQ(matcher.push("").text, "");
  EXPECT_EQ(matcher.finish(), "\n");
  const StopMatcher::Result result = copy.push("er: more");
  EXPECT_EQ(result.text, "");
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(copy.stop(), "\nUser:");
  EXPECT_TRUE(copy.push("more").stopped);
  EXPECT_EQ(copy.push("more").text, "");
  EXPECT_EQ(copy.finish(), "");
}

TEST(StopMatcher, WithoutStopStringsReturnsTheWholeText) {
  StopMatcher none;
  EXPECT_EQ(none.push("text").text, "text");
  StopMatcher empty({"", ""});
  EXPECT_EQ(empty.push("text").text, "text");
  EXPECT_FALSE(empty.push("text").stopped);
}

TEST(StopMatcher, FirstCompleteThenLongestStopWins) {
  EXPECT_EQ(run({"abcd", "bc"}, "xabcd", {}), (Outcome{"xa", true, "bc"}));
  EXPECT_EQ(run({"bc", "abc"}, "xabcd", {}), (Outcome{"x", true, "abc"}));
  EXPECT_EQ(run({"aab"}, "aaaab", {1, 1, 1, 1, 1}),
            (Outcome{"aa", true, "aab"}));
}

TEST(StopMatcher, DoesNotDependOnTheCuts) {
  std::mt19937 random(3);
  const auto letters = [&](size_t size) {
    std::string text(size, 'a');
    for (char& c : text) c = static_cast<char>('a' + random() % 2);
    return text;
  };
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> stops;
    for (size_t i = random() % 4; i-- > 0;)
      stops.push_back(letters(random() % 9));
    const std::string text = letters(random() % 40);
    std::vector<size_t> sizes(40);
    for (size_t& size : sizes) size = random() % 6;
    EXPECT_EQ(run(stops, text, sizes), expected(stops, text)) << text;
  }
}

TEST(StopMatcher, LongStopStringsAreQuick) {
  RC_TEST_LABELS(kNumbers);
  // Comparing again at each byte would take hours.
  StopMatcher matcher({std::string(1 << 20, 'a') + "b"});
  size_t size = 0;
  const std::string text(1 << 10, 'a');
  for (int i = 0; i < 1 << 11; ++i) size += matcher.push(text).text.size();
  EXPECT_EQ(size + matcher.finish().size(), text.size() << 11);
}

}  // namespace
}  // namespace rc::text
