// The values of the programs of plugin.h: their text, their bytes, and whether
// they are possible.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runcible/plugin.h"

namespace rc {

// "Q4_K [rows, 8, 64]", for messages. Accepts any bytes.
std::string value_text(const rc_plugin_value& value);

// "a weight", for messages. Accepts any number.
const char* storage_text(int32_t storage);

bool same_shape(const rc_plugin_value& a, const rc_plugin_value& b);

// The numbers that stand for the symbolic dimensions.
struct Rows {
  int64_t rows = 0;
  int64_t outputs = 0;
  int64_t sequences = 0;
};

// A dimension with its symbol, if it is one, replaced.
int64_t resolve_dimension(int64_t dimension, const Rows& rows);

// Bytes of a whole value; nullopt if type or shape are impossible or the
// product overflows.
std::optional<uint64_t> value_bytes(const rc_plugin_value& value,
                                    const Rows& rows);

// Throws RC_E_INVALID_ARGUMENT, naming the value's shape, unless type, rank,
// dimensions and storage of the value are possible.
void check_value(const rc_plugin_value& value);

}  // namespace rc
