// AFM of Arcee: Llama whose feed-forward part is a squared rectifier (So et al.
// 2021, arXiv:2109.08668). Arcee AI 2025, https://huggingface.co/arcee-ai.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kArcee = {
    .name = "arcee",
    .rotary = {.style = RC_ROPE_ADJACENT, .factors = Presence::kOptional},
    .feed_forward = {.gate = {.function = RC_FUNCTION_RELU,
                              .ungated = true,
                              .times_itself = true}},
};

}  // namespace rc::model
