// The known word that a mistyped one was meant to be.
#pragma once

#include <string>
#include <vector>

namespace cli {

// Returns the candidate that is nearest to `word`, or "" if none is near.
// Upper and lower case, and - and _, count as equal.
std::string nearest(const std::string& word,
                    const std::vector<std::string>& candidates);

// "; did you mean X?", or "" if no candidate is near.
std::string did_you_mean(const std::string& word,
                         const std::vector<std::string>& candidates);

}  // namespace cli
