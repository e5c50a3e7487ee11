// Encoding of weights with the least error that a search finds.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace rc::quantize {

// Writes blocks of `columns` finite elements, whole blocks of the type, to
// `target`. The sum of weight * (element - what it becomes)^2 is made small;
// `weights` is NULL, or holds a weight above 0 for each element. The bits are
// the same on every machine.
using Encoder = void (*)(const float* elements, const float* weights,
                         int64_t columns, uint8_t* target);

// nullptr if the type cannot be written. F32, F16, BF16, and without weights
// Q4_0, Q5_0 and Q8_0, are rounded as the package gguf does it.
Encoder find_encoder(DType dtype);

// The largest magnitude that the type holds for sure: its scales are binary16.
// Infinite for a type that holds all that f32 does, NaN included.
float largest_element(DType dtype);

// Whether the magnitudes of `count` elements are at most `limit`; NaN is
// greater than any.
bool are_within(const float* elements, int64_t count, float limit);

}  // namespace rc::quantize
