#include "text/chat/search.h"

#include <algorithm>
#include <string>
#include <vector>

namespace rc::text::chat {
namespace {

// Up to here the search of the standard library is faster, and its worst case
// harmless.
constexpr size_t kShort = 64;

// Knuth, Morris, Pratt: for each length of a matched beginning the longest
// shorter one that it ends with.
size_t find_long(std::string_view text, std::string_view what) {
  std::vector<size_t> shorter(what.size() + 1, 0);
  const auto advance = [&](size_t matched, char byte) {
    while (matched > 0 && what[matched] != byte) matched = shorter[matched];
    return what[matched] == byte ? matched + 1 : 0;
  };
  for (size_t i = 1; i < what.size(); ++i) {
    shorter[i + 1] = advance(shorter[i], what[i]);
  }
  size_t matched = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    matched = advance(matched, text[i]);
    if (matched == what.size()) return i + 1 - matched;
  }
  return std::string_view::npos;
}

}  // namespace

size_t find_first(std::string_view text, std::string_view what, size_t from) {
  if (what.size() <= kShort || from > text.size()) return text.find(what, from);
  const size_t at = find_long(text.substr(from), what);
  return at == std::string_view::npos ? at : at + from;
}

size_t find_last(std::string_view text, std::string_view what, size_t end) {
  text = text.substr(0, std::min(end, text.size()));
  if (what.size() <= kShort) return text.rfind(what);
  const std::string text_back(text.rbegin(), text.rend());
  const std::string what_back(what.rbegin(), what.rend());
  const size_t at = find_long(text_back, what_back);
  return at == std::string_view::npos ? at : text.size() - at - what.size();
}

}  // namespace rc::text::chat
