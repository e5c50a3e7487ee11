// The parts of find_encoder (encoder.h).
#pragma once

#include "files/quantize/encoder.h"

namespace rc::quantize {

// Of types whose scales are searched; nullptr for others.
Encoder find_searched_encoder(DType dtype);

// Of MXFP4 and NVFP4; nullptr for others.
Encoder find_fp4_encoder(DType dtype);
// Of types whose elements are entries of codebooks; nullptr for others.
Encoder find_coded_encoder(DType dtype);

}  // namespace rc::quantize
