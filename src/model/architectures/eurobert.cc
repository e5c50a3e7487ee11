// EuroBERT: Llama as an encoder. Boizard et al. 2025, arXiv:2503.05500.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kEuroBert = {
    .name = "eurobert",
    .attention = {.causal = false},
    .output = {.hidden_rows = true, .normed_hidden_rows = true},
};

}  // namespace rc::model
