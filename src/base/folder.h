// Folders, read without the standard library's iterators, which end the process
// when there is no memory for a name. Any thread.
#pragma once

#include <string>
#include <vector>

namespace rc {

// The names of what lies in the folder, "." and ".." aside, sorted. Throws
// RC_E_NOT_FOUND if there is no such folder, RC_E_IO if it cannot be read.
std::vector<std::string> names_in_folder(const std::string& path);

// The path without symbolic links, "." and "..". Throws RC_E_NOT_FOUND if
// nothing lies there, RC_E_IO if that cannot be found out.
std::string real_path(const std::string& path);

// Whether the path leads to a folder.
bool is_folder(const std::string& path) noexcept;

// Whether anything lies there, a link that leads nowhere too.
bool is_there(const std::string& path) noexcept;

// Makes a folder, restricted by the umask of the process. Returns whether there
// is one now or something else of that name; false: for the reason in errno.
bool make_folder(const std::string& path, unsigned permissions) noexcept;

// Removes an empty folder. Returns false, with the reason in errno, if the
// system refuses.
bool remove_folder(const std::string& path) noexcept;

// Makes the link `name`, below the folder, to `target`; a file or link of that
// name is replaced at once, so that it is never missing. Makes the folders of
// `name` that do not exist, and enters none through a link. Throws RC_E_IO.
void link_below(const std::string& folder, const std::string& name,
                const std::string& target);

}  // namespace rc
