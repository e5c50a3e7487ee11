// Names of models on a hub, as users write them:
// hf:OWNER/NAME[:FILE][@REVISION].
#pragma once

#include <string>
#include <string_view>

namespace rc::hub {

struct Reference {
  std::string owner;
  std::string name;
  std::string file;      // or a quantization such as Q4_K_M; empty: not given
  std::string revision;  // a branch, tag or commit; empty: not given

  std::string repository() const { return owner + "/" + name; }
  std::string revision_or_main() const {
    return revision.empty() ? "main" : revision;
  }
  // "hf:OWNER/NAME", as messages and lists have it.
  std::string text() const { return "hf:" + repository(); }
};

// Whether a path is meant as such a name. A file that is really called so is
// "./hf:...".
bool is_reference(std::string_view path);

// Throws RC_E_INVALID_ARGUMENT.
Reference parse_reference(std::string_view text);

// Whether a name of a hub can be that of a file in a folder, with '/' between
// folders: no part is empty, "." or "..", there is no backslash or control
// character, and it is not too long.
bool is_safe_file_name(std::string_view name);
// A branch, tag or commit: the same.
bool is_safe_revision(std::string_view revision);
// 40 hexadecimal digits.
bool is_commit(std::string_view text);

}  // namespace rc::hub
