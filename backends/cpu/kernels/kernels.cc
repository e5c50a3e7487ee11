// The table of this level's kernels.
#include "cpu/kernels/levels.h"
#include "cpu/kernels/simd.h"

namespace rc::cpu::RC_CPU_LEVEL {

extern const Kernels kKernels = {
    linear_function,
    linear_of_rows_function,
    product_of_tiles,
    table_function,
    pack_function,
    attention_function,
    quantize,
    quantize16,
    rms_norm,
    glu,
    add_rows,
    multiply_rows,
    scale_row,
    softcap_row,
    rope_head,
    weighted_sum,
    unary,
    binary,
    elements,
    where,
    layer_norm,
    softmax,
    sum_elements,
    windows,
    kParts <= 2 ? pixels : nullptr,
    product,
    kParts == 1 ? kProductColumns : kTileRows,
    panel,
    kLeavesOut ? taps : nullptr,
    tile_columns,
    transpose,
    scan_head,
    scan_channels,
    delta_head,
    fading_head,
    multiply_add,
    product_f64,
    widen,
    kConvertsHalves ? to_f16 : nullptr,
};

}  // namespace rc::cpu::RC_CPU_LEVEL
