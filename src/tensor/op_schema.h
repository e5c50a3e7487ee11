// What is known of each op of plugin.h before its values are looked at.
#pragma once

#include <cstdint>

namespace rc {

struct OpSchema {
  int32_t code;      // RC_OP_*
  const char* name;  // "LINEAR"
  // As many as plugin.h names for the op, absent ones too.
  int inputs;
  int outputs;
  // Bit i: the output may take the bytes of input i.
  uint32_t may_share = 0;
};

// nullptr for a number that is no op.
const OpSchema* find_op(int32_t code);

}  // namespace rc
