// Step 3.5 and 3.7, their text: layers with a window have more heads, of which
// all of each rotates, with another base, and in the others half; each head has
// a gate. Experts with sigmoids for scores are chosen with a bias, and there is
// a shared one; gates are limited in some layers. StepFun 2026,
// https://huggingface.co/stepfun-ai/Step-3.5-Flash.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kStep35 = {
    .name = "step35",
    .position = {.window = {.period = 4,
                            .windowed = 3,
                            .first_sees_all = true}},
    .rotary = {.factors = Presence::kOptional,
               .half_without_window = true,
               .separate_for_windows = true},
    .attention = {.fused = Presence::kOptional,
                  .head_norm = HeadNorm::kEach,
                  .optional_head_norm = true,
                  .gate = AttentionGate::kOfHeads},
    .feed_forward = {.gate_limits = true},
    .experts = {.presence = Presence::kAlways,
                .default_score = 2,
                .selection_bias = true,
                .shared = true},
};

}  // namespace rc::model
