#include "model/builtin.h"

#include <algorithm>
#include <optional>
#include <system_error>

#include "base/config/settings.h"
#include "base/error.h"
#include "base/installed_data.h"
#include "base/module_directory.h"
#include "base/quote.h"
#include "hub/cache.h"

namespace rc::model {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "builtin:";
constexpr size_t kLongestName = 64;

bool is_good_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
         });
}

}  // namespace

void check_builtin_name(std::string_view path) {
  if (!path.starts_with(kPrefix)) return;
  if (!is_good_name(path.substr(kPrefix.size()))) {
    fail(RC_E_INVALID_ARGUMENT, quote(path), ": after ", kPrefix,
         " comes the name of a model, 1 to ", kLongestName,
         " letters, digits, '-', '_' and '.' that do not begin with '.'; for a "
         "file that is called so put ./ before it");
  }
}

std::string file_of(const std::string& path) {
  check_builtin_name(path);
  if (hub::is_reference(path)) return hub::find_in_cache(path, "");
  if (!path.starts_with(kPrefix)) return path;
  const std::string file = path.substr(kPrefix.size()) + ".gguf";
  std::vector<fs::path> folders = data_folders(module_directory());
  const std::optional<std::string> named = config::text_now("library.data");
  if (named) folders.insert(folders.begin(), fs::path(*named));
  std::string looked_in;
  for (const fs::path& folder : folders) {
    std::error_code error;
    const fs::path candidate = folder / file;
    if (fs::exists(candidate, error)) return candidate.string();
    looked_in += (looked_in.empty() ? "" : "; ") + folder.string();
    if (error) looked_in += " (" + error.message() + ")";
  }
  // The remedy comes first, as a long message is cut.
  fail(RC_E_NOT_FOUND, path, ": there is no ", file, "; set RUNCIBLE_DATA",
       named ? "" : " (not set now)",
       " to the folder that holds it, or install Runcible again. Looked in ",
       looked_in);
}

std::vector<fs::path> data_folders(const fs::path& own) {
  std::vector<fs::path> folders;
  const auto add = [&](const fs::path& folder) {
    const fs::path normal = folder.lexically_normal();
    if (std::find(folders.begin(), folders.end(), normal) == folders.end()) {
      folders.push_back(normal);
    }
  };
  if (!own.empty()) {
    add(own);
    // An installed library, an installed program, and a folder that Runcible
    // is built in.
    for (const char* way :
         {RC_LIBRARY_TO_DATA, RC_PROGRAM_TO_DATA, "../share/runcible"}) {
      add(own / way);
    }
  }
  add(rc_installed_data);
  return folders;
}

}  // namespace rc::model
