// EmbeddingGemma: Gemma 3 as an encoder, whose windows are to both sides. Vera
// et al. 2025, arXiv:2509.20354.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGemmaEmbedding = {
    .name = "gemma-embedding",
    .embedding = {.scaled = true},
    .norm = {.place = NormPlace::kAround},
    .position = {.window = {.period = 6, .windowed = 5}},
    .rotary = {.separate_for_windows = true, .window_base = 10000.0f},
    .attention = {.causal = false, .head_norm = HeadNorm::kEach},
    .feed_forward = {.gate = {.function = RC_FUNCTION_GELU_TANH}},
    .output = {.hidden_rows = true, .normed_hidden_rows = true},
};

}  // namespace rc::model
