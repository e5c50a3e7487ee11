// Python's operations on strings, for filters and methods alike. All of them
// keep the origins of what they take over, and whether a string is safe.
#pragma once

#include <cstdint>
#include <vector>

#include "text/chat/containers.h"
#include "text/chat/value.h"

namespace rc::text::chat {

enum class Side { kLeft, kRight, kBoth };

// Without characters at its ends: spaces, or those of `characters` if it is not
// null.
Value strip(Budget* budget, const Value& string, Side side,
            const Text* characters);
// The parts between separators, spaces of any length if it is null; at most
// `most` cuts from the side, any number if that is negative.
std::vector<Value> split(Budget* budget, const Value& string,
                         const Text* separator, int64_t most, Side side);
std::vector<Value> split_lines(Budget* budget, const Value& string,
                               bool keep_ends);
// With the first `most` occurrences replaced, all if that is negative.
Value replace(Budget* budget, const Value& string, const Text& from,
              const Text& to, int64_t most);
// Filled with a character up to so many of them; at both sides as
// str.center() has it.
Value pad(Budget* budget, const Value& string, int64_t width, const Text& fill,
          Side side);

}  // namespace rc::text::chat
