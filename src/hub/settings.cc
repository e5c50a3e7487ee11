#include "hub/settings.h"

#include <algorithm>

#include "base/environment.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/whole_file.h"

namespace rc::hub {
namespace {

constexpr size_t kLongestToken = 4096;

std::string home_folder() {
  const auto home = environment_folder("HOME");
  if (!home) {
    fail(RC_E_NOT_FOUND, "the folder of fetched models is not known: HOME is ",
         quote(environment("HOME").value_or("")),
         "; set HF_HUB_CACHE or HOME to an absolute path");
  }
  return *home;
}

// The path in a variable of Hugging Face, or none. "~/x" is x in the user's
// home. Another relative path is refused: which folder it means depends on
// where the program runs.
std::optional<std::string> named_path(const char* name) {
  const auto path = environment(name);
  if (!path || path->front() == '/') return path;
  if (path == "~" || path->starts_with("~/")) {
    return home_folder() + path->substr(1);
  }
  fail(RC_E_INVALID_ARGUMENT, name, ": ", quote(*path),
       " is a relative path; set it to an absolute one, or to one that begins "
       "with ~/");
}

// HF_HOME.
std::string hub_home() {
  if (const auto home = named_path("HF_HOME")) return *home;
  if (const auto cache = environment_folder("XDG_CACHE_HOME")) {
    return *cache + "/huggingface";
  }
  return home_folder() + "/.cache/huggingface";
}

bool is_set(const char* name) {
  std::string value = environment(name).value_or("");
  for (char& c : value) {
    if (c >= 'a' && c <= 'z') c -= 'a' - 'A';
  }
  return value == "1" || value == "ON" || value == "YES" || value == "TRUE";
}

std::string stripped(std::string_view text) {
  constexpr char kBlank[] = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == text.npos) return {};
  return std::string(
      text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin));
}

// Whether it can stand in a header.
std::string checked_token(std::string_view text, const std::string& from) {
  std::string token = stripped(text);
  const auto is_visible = [](char c) { return c > 0x20 && c < 0x7F; };
  if (token.size() > kLongestToken ||
      !std::all_of(token.begin(), token.end(), is_visible)) {
    fail(RC_E_INVALID_ARGUMENT, from,
         " holds no token: one is letters, digits "
         "and signs, without spaces");
  }
  return token;
}

}  // namespace

std::string cache_folder() {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    if (const auto folder = named_path(name)) return *folder;
  }
  return hub_home() + "/hub";
}

std::string endpoint() {
  std::string address =
      environment("HF_ENDPOINT").value_or("https://huggingface.co");
  while (address.ends_with('/')) address.pop_back();
  return address;
}

std::string token() {
  if (is_set("HF_HUB_DISABLE_IMPLICIT_TOKEN")) return {};
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}) {
    if (const auto text = environment(name)) return checked_token(*text, name);
  }
  // Without a home there is no such file either.
  const auto named = named_path("HF_TOKEN_PATH");
  if (!named && !environment("HF_HOME") &&
      !environment_folder("XDG_CACHE_HOME") && !environment_folder("HOME")) {
    return {};
  }
  const std::string path = named ? *named : hub_home() + "/token";
  return checked_token(read_whole_file(path, kLongestToken).value_or(""), path);
}

bool offline() {
  return is_set("HF_HUB_OFFLINE") || is_set("TRANSFORMERS_OFFLINE");
}

}  // namespace rc::hub
