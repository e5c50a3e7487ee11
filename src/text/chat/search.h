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

}  // namespace rc::text::chat
