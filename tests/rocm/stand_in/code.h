// What the stand-in for AMD's compiler makes and that for HIP loads in place of
// a code object: a line each for the mark, the GPU and the definitions, and the
// kernel's source.
#pragma once

namespace rc::rocm {

inline constexpr char kMark[] = "code of a stand-in\n";

}  // namespace rc::rocm
