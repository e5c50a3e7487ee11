// The profile of a backend, in a file for Perfetto or Chrome.
#pragma once

#include <fstream>
#include <memory>
#include <string>

#include "handles.h"

namespace cli {

class Trace {
 public:
  // Opens the file before anything is measured, which may take long. Without a
  // path it has a name of its own, in the current folder.
  explicit Trace(std::string path);

  // With the path of --trace; without one only if RUNCIBLE_PROFILE made the
  // backend measure; else none.
  static std::unique_ptr<Trace> of(const Backend& backend,
                                   const std::string& path);

  // Writes what was measured so far and names the file on stderr. Gives what
  // is in it.
  std::string write(const Backend& backend);

 private:
  [[noreturn]] void fail_writing() const;

  const std::string path_;
  std::ofstream file_;
};

}  // namespace cli
