// MPT. MosaicML 2023, "Introducing MPT-7B".
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kMpt = {
    .name = "mpt",
    .norm = {.kind = Norm::kLayerUnbiased},
    .position = {.alibi = Presence::kAlways},
    .attention = {.fused = Presence::kAlways, .clamps = true},
    .feed_forward = {.gate = {.function = RC_FUNCTION_GELU, .ungated = true}},
};

}  // namespace rc::model
