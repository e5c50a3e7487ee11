// The rotation of queries and keys by their position, as ops of a forward
// program.
#pragma once

#include <cstdint>

#include "runtime/program.h"

namespace rc::model {

struct Rotation {
  runtime::Value positions = runtime::kAbsent;    // I32 [rows]
  runtime::Value frequencies = runtime::kAbsent;  // [size of what rotates / 2]
  float scale = 1.0f;                             // of cosine and sine
  int32_t style = 0;                              // RC_ROPE_*
  // Of rows where `longer`, I32 [rows], is 1, not 0. Absent where all rotate
  // alike.
  runtime::Value long_frequencies = runtime::kAbsent;
  runtime::Value longer = runtime::kAbsent;
};

// The weight that picks one of two rotations, [2, 2]; no tensor of a file has
// this name.
inline constexpr const char* kRotationChoiceWeight = "(choice of frequencies)";

// Of x [rows, heads, size].
runtime::Value add_rotation(runtime::ProgramBuilder& builder,
                            const Rotation& rotation, runtime::Value x);

}  // namespace rc::model
