#include "base/config/file.h"

#include "base/environment.h"
#include "base/error.h"
#include "base/file.h"
#include "base/whole_file.h"

namespace rc::config {
namespace {

// All settings with a page of comment on each take less.
constexpr size_t kLargestFile = size_t{1} << 18;
constexpr char kName[] = "/runcible/config.toml";

}  // namespace

Place find_place(const std::optional<std::string>& named) {
  if (named) return {*named, "rc_config_use_file", !named->empty()};
  if (const auto variable = environment_as_it_is("RUNCIBLE_CONFIG")) {
    return {*variable, "RUNCIBLE_CONFIG", !variable->empty()};
  }
  if (const auto folder = environment_folder("XDG_CONFIG_HOME")) {
    return {*folder + kName, "XDG_CONFIG_HOME", false};
  }
  if (const auto home = environment_folder("HOME")) {
    return {*home + "/.config" + kName, "HOME", false};
  }
  return {"", "", false};
}

File read_file(const Place& place) {
  File file;
  file.place = place;
  if (place.path.empty()) return file;
  const auto found = file_status(place.path);
  if (!found) {
    if (!place.must_exist) return file;
    fail(RC_E_NOT_FOUND, place.path, ", which ", place.said_by,
         " names as the configuration, is not there");
  }
  file.exists = true;
  if (found->is_file() && found->size > kLargestFile) {
    fail(RC_E_FORMAT, place.path, ": ", found->size,
         " bytes are too many for a configuration, which has ", kLargestFile,
         " at most");
  }
  const auto text = read_whole_file(place.path, kLargestFile);
  if (!text) {
    fail(RC_E_IO, place.path, ", the configuration, ",
         found->is_file() ? "cannot be read" : "is no regular file",
         "; mend it, or set RUNCIBLE_CONFIG to another file or to nothing");
  }
  file.values = parse(*text, place.path);
  return file;
}

}  // namespace rc::config
