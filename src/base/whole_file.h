// Small files, read as a whole without trusting what lies under their names: a
// pipe without a writer would keep who opens it waiting for ever, and a
// device may never end.
//
// Any thread. These throw std::bad_alloc and nothing else: a stream of the
// standard library swallows it, and gives a part of the file for the whole.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace rc {

// Returns the contents of a regular file. Nothing if it is no such file, cannot
// be read, or is larger than `largest` bytes.
std::optional<std::string> read_whole_file(const std::string& path,
                                           size_t largest);

// The same for files that processes of this user keep for each other, as in a
// cache: also nothing if the path ends in a symbolic link, or if the file is
// another user's or may be written by others.
std::optional<std::string> read_own_file(const std::string& path,
                                         size_t largest);

}  // namespace rc
