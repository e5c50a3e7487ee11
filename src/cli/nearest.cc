#include "nearest.h"

#include <algorithm>
#include <cctype>
#include <limits>

namespace cli {
namespace {

// Words from users may be long; no candidate is.
constexpr size_t kLongestCompared = 64;

std::string folded(const std::string& word) {
  std::string text = word.substr(0, kLongestCompared);
  for (char& c : text) {
    c = c == '_'
            ? '-'
            : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

// Insertions, deletions, substitutions, and swaps of neighbours.
size_t distance(const std::string& a, const std::string& b) {
  const size_t columns = b.size() + 1;
  std::vector<size_t> table((a.size() + 1) * columns);
  const auto at = [&](size_t i, size_t j) -> size_t& {
    return table[i * columns + j];
  };
  for (size_t i = 0; i <= a.size(); ++i) at(i, 0) = i;
  for (size_t j = 0; j <= b.size(); ++j) at(0, j) = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, changed});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
      }
    }
  }
  return at(a.size(), b.size());
}

// The letters without the dashes before them.
std::string letters(const std::string& text) {
  const size_t begin = text.find_first_not_of('-');
  return begin == std::string::npos ? "" : text.substr(begin);
}

}  // namespace

std::string nearest(const std::string& word,
                    const std::vector<std::string>& candidates) {
  const std::string wanted = letters(folded(word));
  if (wanted.empty()) return "";
  const size_t most = std::max<size_t>(1, wanted.size() / 3);
  std::string found;
  size_t least = std::numeric_limits<size_t>::max();
  for (const std::string& candidate : candidates) {
    const std::string known = letters(folded(candidate));
    size_t far = distance(wanted, known);
    // The beginning of a candidate is near, but less so than a typing error.
    if (far > most && wanted.size() > 2 && known.rfind(wanted, 0) == 0) {
      far = most;
    }
    // A word of one letter is near to every other one.
    if (far <= most && far < known.size() && far < least) {
      least = far;
      found = candidate;
    }
  }
  return found;
}

std::string did_you_mean(const std::string& word,
                         const std::vector<std::string>& candidates) {
  const std::string found = nearest(word, candidates);
  return found.empty() ? "" : "; did you mean " + found + "?";
}

}  // namespace cli
