// Checks of programs that come from outside: an op with the wrong shapes is a
// message, never a read beyond an array.
#pragma once

#include <cstddef>

#include "runcible/plugin.h"

namespace rc::cpu {

// "LINEAR"; "op 99" for a code that is none (thread-local storage).
const char* op_name(int32_t code);

// Throws a Failure of RC_E_INVALID_ARGUMENT if the op is not as plugin.h
// describes it, and of RC_E_UNSUPPORTED if this backend cannot compute it.
// Looks at types and shapes only. Values that are weights may have any
// decodable type. `values` has `count` entries.
void check_op(const rc_plugin_op& op, const rc_plugin_value* values,
              size_t count);

// A cache type's bytes for `d` elements; fails if it is none.
uint64_t cache_row_bytes(rc_dtype dtype, int64_t d);

}  // namespace rc::cpu
