#include "output_file.h"

#include <sys/stat.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace cli {
namespace {

namespace fs = std::filesystem;

bool is_same_file(const struct stat& a, const std::string& path) {
  struct stat b = {};
  return stat(path.c_str(), &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

// The first of these files that is the one of `status`; "": none.
std::string found_within(const fs::path& folder, const struct stat& status) {
  std::error_code error;
  const auto follow = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(folder, follow, error), end;
       !error && at != end; at.increment(error)) {
    if (is_same_file(status, at->path().string())) return at->path().string();
  }
  return "";
}

// "model-00001-of-00003.gguf" is one of several parts; their common beginning,
// "model-", or "".
std::string beginning_of_parts(const std::string& name) {
  constexpr size_t kTail = sizeof "00001-of-00003.gguf" - 1;
  if (name.size() <= kTail) return "";
  const std::string tail = name.substr(name.size() - kTail);
  std::string pattern = tail;
  for (char& c : pattern) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) c = '0';
  }
  if (pattern != "00000-of-00000.gguf") return "";
  return name.substr(0, name.size() - kTail);
}

// The folder of a model of the cache of fetched models; "" if there is none.
std::string cache_folder(const std::string& source) {
  const std::string name =
      source.substr(0, source.find_first_of(":@", sizeof "hf:" - 1));
  char* text = nullptr;
  if (rc_cached_models(nullptr, &text) != RC_OK) return "";
  const Returned<char> owned(text);
  const auto report = nlohmann::json::parse(text, nullptr, false);
  if (!report.is_object() || !report.contains("folder")) return "";
  std::string folder = name.substr(sizeof "hf:" - 1);
  const size_t slash = folder.find('/');
  if (slash == std::string::npos) return "";
  folder.replace(slash, 1, "--");
  return report["folder"].get<std::string>() + "/models--" + folder;
}

// The file of `input` that is the one of `status`; "": none.
std::string found_in(const std::string& input, const struct stat& status) {
  if (input.rfind("hf:", 0) == 0) {
    return found_within(cache_folder(input), status);
  }
  constexpr const char* kBuiltin = "builtin:";
  if (input.rfind(kBuiltin, 0) == 0) {
    const char* const data = std::getenv("RUNCIBLE_DATA");
    const std::string file = std::string(data == nullptr ? "" : data) + "/" +
                             input.substr(std::string(kBuiltin).size()) +
                             ".gguf";
    return is_same_file(status, file) ? file : "";
  }
  std::error_code error;
  if (fs::is_directory(input, error)) return found_within(input, status);
  if (is_same_file(status, input)) return input;
  const fs::path path(input);
  const std::string begin = beginning_of_parts(path.filename().string());
  if (begin.empty()) return "";
  const fs::path folder =
      path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (beginning_of_parts(name) == begin &&
        is_same_file(status, at->path().string())) {
      return at->path().string();
    }
  }
  return "";
}

}  // namespace

void check_output(const std::string& path, bool force, Writing writing,
                  const std::vector<std::string>& inputs,
                  const std::string& hint) {
  constexpr const char* kDevices = "/dev/";
  const bool through = writing == Writing::kThrough;
  if (path.empty() || (through && path.rfind(kDevices, 0) == 0)) return;
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) {
    // A link to nothing is there all the same.
    if (lstat(path.c_str(), &status) != 0 || force) return;
    throw Failure{kFile, path +
                             " is there already, as a link to a file that "
                             "is not; " +
                             hint};
  }
  if (S_ISDIR(status.st_mode)) {
    throw Failure{kFile, path + " is a folder; name a file to write"};
  }
  if (!S_ISREG(status.st_mode)) {
    if (through) return;
    throw Failure{kFile, path +
                             " is not a regular file, and would be replaced "
                             "by one; name another file to write"};
  }
  for (const std::string& input : inputs) {
    const std::string found = input.empty() ? "" : found_in(input, status);
    if (found.empty()) continue;
    throw Failure{kUsage, path + " would overwrite the input " + found +
                              "; name another file to write"};
  }
  if (!force) {
    throw Failure{kFile,
                  path + " is there already; name another file, or " + hint};
  }
}

void add_force(CLI::App& command, bool& force) {
  command.add_flag("--force", force,
                   "replace the file to write if it is there already");
}

}  // namespace cli
