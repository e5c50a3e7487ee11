// The human-readable costs of a generation.
#pragma once

#include "handles.h"

namespace cli {

// A line on stderr: tokens, speeds, and why it ended.
void note_usage(const rc_generate_report& report);

}  // namespace cli
