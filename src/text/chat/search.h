// Finding strings in strings in linear time, whatever they are.
#pragma once

#include <cstddef>
#include <string_view>

namespace rc::text::chat {

// Where `what` first begins from `from` on; npos if nowhere.
size_t find_first(std::string_view text, std::string_view what,
                  size_t from = 0);
// Where it last begins such that it ends before or at `end`; npos if nowhere.
size_t find_last(std::string_view text, std::string_view what,
                 size_t end = std::string_view::npos);

// About the bytes that are looked at.
inline size_t search_cost(std::string_view text, std::string_view what) {
  return what.size() <= 64 ? text.size() : 8 * (text.size() + what.size());
}

}  // namespace rc::text::chat
