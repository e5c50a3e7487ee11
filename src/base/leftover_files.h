// Temporary files that processes left behind when they were ended.
//
// The writer of a temporary file holds a lock (flock) on it, which ends with
// the process, also on file systems that machines share. So a file without a
// lock is a leftover, whatever process and machine it is from. Where a file
// system has no locks nothing is removed.
#pragma once

#include <string>

#include "base/descriptor.h"

namespace rc {

// Makes a temporary file in the folder of `path` and locks it; returns its
// descriptor and sets *name. Not open: it cannot be made, for the reason in
// errno.
Descriptor make_temporary(const std::string& path, unsigned permissions,
                          std::string* name);

// Removes the temporary files in the folder of `path` that this user's
// processes left behind. Those that cannot be removed stay.
void remove_leftovers(const std::string& path) noexcept;

}  // namespace rc
