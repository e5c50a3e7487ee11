// The options that say how tokens are chosen.
#pragma once

#include "commands.h"

namespace cli {

// How many tokens, and how they are chosen.
void add_sampling_options(CLI::App& command, rc_generate_options& options);

}  // namespace cli
