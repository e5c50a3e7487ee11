// Step 3.5 and 3.7, their text: layers with a window have more heads, of which
// all of each rotates, with another base, and in the others half; each head has
// a gate. Experts with sigmoids for scores are chosen with a bias, and there is
// a shared one; gates are limited in some layers. StepFun 2026,
// https://huggingface.co/stepfun-ai/Step-3.5-Flash.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kStep35 = {
    .name = "step35",
    .fused_attention = Presence::kOptional,
    .head_norm = HeadNorm::kEach,
    .optional_head_norm = true,
    .rope_factors = Presence::kOptional,
    .window = {.period = 4, .windowed = 3, .first_sees_all = true},
    .half_rope = true,
    .local_rope = true,
    .attention_gate = AttentionGate::kOfHeads,
    .gate_limits = true,
    .experts = Presence::kAlways,
    .selection_bias = true,
    .default_scores = 2,
    .shared_expert = true,
};

}  // namespace rc::model
