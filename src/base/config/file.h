// Configuration files: where they are, and what they say.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/config/value.h"

namespace rc::config {

// Where the configuration is looked for.
struct Place {
  std::string path;         // "": nowhere, none is read
  std::string said_by;      // "rc_config_use_file", "RUNCIBLE_CONFIG", ...
  bool must_exist = false;  // this very file was named
};

// `named` is what the program said, if anything; "" turns files off, as an
// empty RUNCIBLE_CONFIG does. Else runcible/config.toml in XDG_CONFIG_HOME,
// which is ~/.config where it is not set or relative.
Place find_place(const std::optional<std::string>& named);

struct FileValue {
  Value value;
  size_t line = 0;  // from 1
};

struct File {
  Place place;
  bool exists = false;
  std::map<std::string, FileValue, std::less<>> values;  // by names of keys
};

// Throws RC_E_NOT_FOUND for a file that must exist and does not, RC_E_IO if it
// cannot be read or is no regular file, and RC_E_FORMAT, naming file, line,
// key, value and what is allowed, if it is not TOML, too large, nests too
// deeply, or says what no setting allows.
File read_file(const Place& place);

// Parses a text of TOML; `name` is that of its file, for messages.
std::map<std::string, FileValue, std::less<>> parse(std::string_view text,
                                                    const std::string& name);

}  // namespace rc::config
