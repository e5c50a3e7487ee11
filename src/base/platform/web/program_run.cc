#include "base/program_run.h"

namespace rc {

std::optional<ProgramRun> run_program(const std::string&,
                                      const std::vector<std::string>&,
                                      const std::string&) {
  return std::nullopt;
}

}  // namespace rc
