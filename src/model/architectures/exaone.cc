// EXAONE 3 and 3.5: Llama with rotation in halves. LG AI Research 2024,
// arXiv:2408.03541.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kExaone = {
    .name = "exaone",
    .rotary = {.factors = Presence::kOptional},
};

}  // namespace rc::model
