// MPT. MosaicML 2023, "Introducing MPT-7B".
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kMpt = {
    .name = "mpt",
    .norm = Norm::kLayerUnbiased,
    .alibi = Presence::kAlways,
    .clamps = true,
    .fused_attention = Presence::kAlways,
    .gate = {.function = RC_FUNCTION_GELU, .ungated = true},
};

}  // namespace rc::model
