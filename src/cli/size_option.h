// Options that are sizes in bytes.
#pragma once

#include <CLI/CLI.hpp>

namespace cli {

// Says that the option, a uint64_t, is a number of bytes with or without a
// unit: 900MB, 1.5 GiB. All units are powers of 1024.
CLI::Option* takes_size(CLI::Option* option);

}  // namespace cli
