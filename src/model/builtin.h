// Models that are named otherwise than by a path: "builtin:NAME", which comes
// with Runcible, means NAME.gguf in one of the folders where such files are,
// wherever it was installed or built; "hf:..." what has been fetched from a hub
// (hub/cache.h). Any thread may call these.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace rc::model {

// Throws RC_E_INVALID_ARGUMENT for "builtin:NAME" with an invalid NAME.
void check_builtin_name(std::string_view path);

// The file that a path means: for "builtin:NAME" the first that is there (else
// RC_E_NOT_FOUND, naming every folder), for "hf:..." what is in the cache of
// fetched models (else RC_E_NOT_FOUND), any other path as it is.
std::string file_of(const std::string& path);

// Where data are for a library, or a program that holds it, in the folder
// `own`, which may be unknown (""): in this order, without repetitions.
std::vector<std::filesystem::path> data_folders(
    const std::filesystem::path& own);

}  // namespace rc::model
