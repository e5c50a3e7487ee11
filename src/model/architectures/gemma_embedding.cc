// EmbeddingGemma: Gemma 3 as an encoder, whose windows are to both sides. Vera
// et al. 2025, arXiv:2509.20354.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGemmaEmbedding = {
    .name = "gemma-embedding",
    .causal = false,
    .gives_hidden_rows = true,
    .normed_hidden_rows = true,
    .norm_place = NormPlace::kAround,
    .scaled_embedding = true,
    .head_norm = HeadNorm::kEach,
    .window = {.period = 6, .windowed = 5},
    .local_rope = true,
    .local_rope_base = 10000.0f,
    .gate = {.function = RC_FUNCTION_GELU_TANH},
};

}  // namespace rc::model
