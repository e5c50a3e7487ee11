// Running another program to its end.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rc {

struct ProgramRun {
  bool succeeded = false;
  std::string output;
  std::string errors;
};

// Runs a program of the search path with these arguments and this input;
// nothing if there is no such program, or the system starts none. Throws
// RC_E_IO if there is no place for what goes to it and comes from it.
std::optional<ProgramRun> run_program(const std::string& name,
                                      const std::vector<std::string>& arguments,
                                      const std::string& input);

}  // namespace rc
