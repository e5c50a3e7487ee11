#include "api/evaluation_text.h"

#include <filesystem>
#include <system_error>

#include "api/guard.h"
#include "base/whole_file.h"

namespace rc::api {
namespace {

// Far more than anybody evaluates; the tokens of a text are in memory, too.
constexpr size_t kLargestText = size_t{256} << 20;

}  // namespace

GivenText::GivenText(const char* given, size_t length, const char* file,
                     const char* option)
    : name(option) {
  need_array(given, length, 1, cat("options->", name).c_str());
  if (given != nullptr && file != nullptr) {
    fail(RC_E_INVALID_ARGUMENT, "options: both ", name, " and ", name,
         "_path are given");
  }
  if (length > kLargestText) {
    fail(RC_E_INVALID_ARGUMENT, "options->", name, ": ", length,
         " bytes are more than the ", kLargestText, " that are possible");
  }
  if (given != nullptr) {
    bytes.assign(given, length);
    is_bytes = true;
  }
  if (file != nullptr) {
    if (*file == '\0') {
      fail(RC_E_INVALID_ARGUMENT, "options->", name, "_path: empty");
    }
    path = file;
  }
}

std::string GivenText::read() const {
  if (is_bytes) return bytes;
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) {
    fail(RC_E_NOT_FOUND, path, ": no such file");
  }
  auto text = read_whole_file(path, kLargestText);
  if (!text) {
    fail(RC_E_IO, path, ": cannot be read as a file of at most ", kLargestText,
         " bytes");
  }
  return std::move(*text);
}

}  // namespace rc::api
