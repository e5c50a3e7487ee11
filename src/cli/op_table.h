// The profile of a backend as a table for people.
#pragma once

#include <string>

namespace cli {

// A line per op and type: how often, how long, its share of the whole, GB/s and
// GFLOP/s. `trace` is what rc_backend_trace gives.
std::string op_table(const std::string& trace);

}  // namespace cli
