#include "usage.h"

#include <algorithm>
#include <string>

#include "terminal.h"

namespace cli {
namespace {

double rate(int64_t tokens, int64_t microseconds) {
  return microseconds > 0 ? static_cast<double>(tokens) * 1e6 /
                                static_cast<double>(microseconds)
                          : 0;
}

}  // namespace

void note_usage(const rc_generate_report& report) {
  const int64_t evaluated = report.prompt_tokens - report.cached_tokens;
  // The first token comes out of the prompt's evaluation.
  const int64_t steps = std::max<int64_t>(report.generated_tokens - 1, 0);
  note("prompt: " + std::to_string(report.prompt_tokens) + " tokens (" +
       std::to_string(report.cached_tokens) + " cached), " +
       fixed_text(rate(evaluated, report.prompt_us), 1) +
       " tokens/s; generated: " + std::to_string(report.generated_tokens) +
       " tokens, " + fixed_text(rate(steps, report.generate_us), 1) +
       " tokens/s; seed " + std::to_string(report.seed) + "; " +
       rc_end_reason_name(report.reason));
}

}  // namespace cli
