// Facts about this machine that take long to find, kept between processes in
// files of the user's cache folder ($XDG_CACHE_HOME or ~/.cache).
//
// Nothing depends on them: facts that cannot be kept or read are found again.
// Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rc {

// Returns the text kept under the key, which is any text.
std::optional<std::string> recall(std::string_view key);

// Replaces what is kept under the key.
void remember(std::string_view key, std::string_view fact);

// Nothing is kept under the key any more.
void forget(std::string_view key);

// Identity, size and age of a file or folder, as a part of keys: what was found
// out about it is void when it changes.
std::string file_state(const std::string& path);

}  // namespace rc
