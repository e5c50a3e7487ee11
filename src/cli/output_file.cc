#include "output_file.h"

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace cli {
namespace {

namespace fs = std::filesystem;

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

// The first of these files that is the one of `output`; "": none.
std::string found_within(const fs::path& folder, const std::string& output) {
  std::error_code error;
  const auto follow = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(folder, follow, error), end;
       !error && at != end; at.increment(error)) {
    if (is_same_file(output, at->path().string())) return at->path().string();
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

// The file of `input` that is the one of `output`; "": none.
std::string found_in(const std::string& input, const std::string& output) {
  if (input.rfind("hf:", 0) == 0) {
    return found_within(cache_folder(input), output);
  }
  constexpr const char* kBuiltin = "builtin:";
  if (input.rfind(kBuiltin, 0) == 0) {
    const char* const data = std::getenv("RUNCIBLE_DATA");
    const std::string file = std::string(data == nullptr ? "" : data) + "/" +
                             input.substr(std::string(kBuiltin).size()) +
                             ".gguf";
    return is_same_file(output, file) ? file : "";
  }
  std::error_code error;
  if (fs::is_directory(input, error)) return found_within(input, output);
  if (is_same_file(output, input)) return input;
  const fs::path path(input);
  const std::string begin = beginning_of_parts(path.filename().string());
  if (begin.empty()) return "";
  const fs::path folder =
      path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (beginning_of_parts(name) == begin &&
        is_same_file(output, at->path().string())) {
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
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    // A link to nothing is there all the same.
    if (!fs::is_symlink(fs::symlink_status(path, error)) || force) return;
    throw Failure{kFile, path +
                             " is there already, as a link to a file that "
                             "is not; " +
                             hint};
  }
  if (fs::is_directory(status)) {
    throw Failure{kFile, path + " is a folder; name a file to write"};
  }
  if (!fs::is_regular_file(status)) {
    if (through) return;
    throw Failure{kFile, path +
                             " is not a regular file, and would be replaced "
                             "by one; name another file to write"};
  }
  for (const std::string& input : inputs) {
    const std::string found = input.empty() ? "" : found_in(input, path);
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
