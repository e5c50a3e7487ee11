// The profile of a backend, in a file for Perfetto or Chrome.
#pragma once

#include <fstream>
#include <memory>
#include <string>

#include "handles.h"

namespace cli {

class Trace {
 public:
  // Opens the file before measurements, which may take long. If the path is
  // empty, the file is in the current folder, with a generated name.
  explicit Trace(std::string path);

  // Makes a trace with the path of --trace. Without that path, makes one only
  // if RUNCIBLE_PROFILE made the backend measure; otherwise returns nullptr.
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
