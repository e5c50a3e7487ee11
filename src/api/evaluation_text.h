// Texts that are given as bytes or as a file, of evaluate.h.
#pragma once

#include <cstddef>
#include <string>

namespace rc::api {

// `name` is the option's name. The path is checked to be given alone; what is
// in the file is read by read().
struct GivenText {
  GivenText() = default;
  // Throws RC_E_INVALID_ARGUMENT for bytes that are NULL, or both of them.
  GivenText(const char* bytes, size_t length, const char* file,
            const char* name);

  bool given() const { return !path.empty() || is_bytes; }
  // Throws RC_E_NOT_FOUND, RC_E_IO.
  std::string read() const;
  // For messages: the path, or `name`.
  const std::string& label() const { return path.empty() ? name : path; }

  std::string name;
  std::string bytes;
  std::string path;
  bool is_bytes = false;
};

}  // namespace rc::api
