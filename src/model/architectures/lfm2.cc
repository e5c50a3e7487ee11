// LFM2: gated short convolutions with a few layers of attention between them.
// Liquid AI 2025, arXiv:2511.23404. Files call the last norm that of the
// embeddings.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kLfm2 = {
    .name = "lfm2",
    .names = {.output_norm = "token_embd_norm.weight"},
    .attention = {.head_norm = HeadNorm::kEach},
    .recurrence = {.mixer = Mixer::kShortConv},
};

}  // namespace rc::model
