// AFMoE, the Trinity models: norms around all parts, windows in the layers that
// rotate, attention with gates, experts with sigmoids for scores that are
// chosen with a bias, and shared ones. Arcee AI 2025,
// https://huggingface.co/arcee-ai/Trinity-Mini.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kAfmoe = {
    .name = "afmoe",
    .embedding = {.scaled = true},
    .norm = {.place = NormPlace::kAround},
    .position = {.window = {.period = 4, .windowed = 3}},
    .rotary = {.only_windows = true},
    .attention = {.head_norm = HeadNorm::kEach,
                  .gate = AttentionGate::kOfElements},
    .experts = {.presence = Presence::kAlways,
                .default_score = 2,
                .selection_bias = true,
                .shared = true},
};

}  // namespace rc::model
