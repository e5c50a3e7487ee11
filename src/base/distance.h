// The edit distance of two words, to suggest corrections of mistyped ones.
#pragma once

#include <cstddef>
#include <string_view>

namespace rc {

// Returns the number of letters that have to be added, removed, replaced or
// swapped with their neighbours to make one text of the other, each part of it
// once. Takes time of the product of both lengths.
size_t distance(std::string_view a, std::string_view b);

}  // namespace rc
