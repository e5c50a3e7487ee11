// The parts of find_encoder (encoder.h).
#pragma once

#include "files/quantize/encoder.h"

namespace rc::quantize {

// Of types whose scales are searched; nullptr for others.
Encoder find_searched_encoder(DType dtype);

}  // namespace rc::quantize
