// What the stand-in for AMD's compiler makes and that for HIP loads in place of
// a code object: a line each for the mark, the GPU and the definitions, and the
// kernel's source. Definitions are those of the kernel; GROUP_ITEMS, for
// dimension 0, is one of them. For a kernel that the caller wrote they are
// these, with GROUP_ITEMS_1, GROUP_ITEMS_2 and TENSORS, their number.
#pragma once

namespace rc::rocm {

inline constexpr char kMark[] = "code of a stand-in\n";

}  // namespace rc::rocm
