// AFMoE, the Trinity models: norms around all parts, windows in the layers that
// rotate, attention with gates, experts with sigmoids for scores that are
// chosen with a bias, and shared ones. Arcee AI 2025,
// https://huggingface.co/arcee-ai/Trinity-Mini.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kAfmoe = {
    .name = "afmoe",
    .norm_place = NormPlace::kAround,
    .scaled_embedding = true,
    .head_norm = HeadNorm::kEach,
    .window = {.period = 4, .windowed = 3},
    .only_windows_rotate = true,
    .attention_gate = AttentionGate::kOfElements,
    .experts = Presence::kAlways,
    .selection_bias = true,
    .default_scores = 2,
    .shared_expert = true,
};

}  // namespace rc::model
