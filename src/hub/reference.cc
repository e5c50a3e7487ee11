#include "hub/reference.h"

#include <algorithm>

#include "base/error.h"
#include "base/quote.h"

namespace rc::hub {
namespace {

constexpr std::string_view kHubPrefix = "hf:";
constexpr size_t kLongestRepositoryName = 96;
// Of file systems.
constexpr size_t kLongestPart = 255;
constexpr size_t kLongestFileName = 1024;

[[noreturn]] void refuse_reference(std::string_view text, const char* why) {
  fail(RC_E_INVALID_ARGUMENT, quote(text), ": ", why,
       "; a model on the hub is hf:OWNER/NAME, hf:OWNER/NAME:FILE or either "
       "with @REVISION behind it; for a file that is called so put ./ before "
       "it");
}

// As the hub has them.
bool is_repository_part(std::string_view part) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  return !part.empty() && part.size() <= kLongestRepositoryName &&
         std::all_of(part.begin(), part.end(), is_good) &&
         part.front() != '-' && part.front() != '.' && part.back() != '-' &&
         part.back() != '.' && part.find("--") == part.npos &&
         part.find("..") == part.npos;
}

}  // namespace

bool is_reference(std::string_view path) {
  return path.starts_with(kHubPrefix);
}

Reference parse_reference(std::string_view text) {
  if (!is_reference(text)) refuse_reference(text, "it does not begin with hf:");
  std::string_view rest = text.substr(kHubPrefix.size());
  Reference reference;
  if (const size_t at = rest.rfind('@'); at != rest.npos) {
    reference.revision = rest.substr(at + 1);
    if (!is_safe_revision(reference.revision)) {
      refuse_reference(text, "what follows @ is no revision");
    }
    rest = rest.substr(0, at);
  }
  if (const size_t colon = rest.find(':'); colon != rest.npos) {
    reference.file = rest.substr(colon + 1);
    if (!is_safe_file_name(reference.file)) {
      refuse_reference(text, "what follows the second : is no name of a file");
    }
    rest = rest.substr(0, colon);
  }
  const size_t slash = rest.find('/');
  if (slash == rest.npos) refuse_reference(text, "there is no OWNER/NAME");
  reference.owner = rest.substr(0, slash);
  reference.name = rest.substr(slash + 1);
  if (!is_repository_part(reference.owner) ||
      !is_repository_part(reference.name)) {
    refuse_reference(text, "this is no OWNER/NAME");
  }
  return reference;
}

bool is_safe_file_name(std::string_view name) {
  if (name.empty() || name.size() > kLongestFileName || !is_utf8(name)) {
    return false;
  }
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == '\\') {
      return false;
    }
  }
  while (true) {
    const size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    if (part.empty() || part == "." || part == ".." ||
        part.size() > kLongestPart) {
      return false;
    }
    if (slash == name.npos) return true;
    name.remove_prefix(slash + 1);
  }
}

bool is_safe_revision(std::string_view revision) {
  return is_safe_file_name(revision);
}

bool is_commit(std::string_view text) {
  return text.size() == 40 &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace rc::hub
