// Ministral 3: Llama whose queries grow with the logarithm of their position.
// Mistral AI 2025, https://huggingface.co/mistralai.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kMistral3 = {
    .name = "mistral3",
    .position = {.window = {.period = 1, .windowed = 1}, .query_scale = true},
    .rotary = {.style = RC_ROPE_ADJACENT,
               .factors = Presence::kOptional,
               .yarn_logarithms = true},
};

}  // namespace rc::model
