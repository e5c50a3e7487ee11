// The options that say how tokens are chosen.
#pragma once

#include "commands.h"

namespace cli {

// --max-tokens, in the group that is begun.
void add_max_tokens(CLI::App& command, rc_generate_options& options);

// The options by which tokens are chosen, in groups.
void add_sampling_options(CLI::App& command, rc_generate_options& options);

}  // namespace cli
