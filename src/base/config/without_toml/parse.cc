// For pages, whose users have no files of settings.
#include "base/config/file.h"
#include "base/error.h"

namespace rc::config {

std::map<std::string, FileValue, std::less<>> parse(std::string_view,
                                                    const std::string& name) {
  fail(RC_E_IO, name,
       ", the configuration, cannot be read: this library is built without a "
       "reader of TOML; give values by rc_config_set or RUNCIBLE_ variables");
}

}  // namespace rc::config
