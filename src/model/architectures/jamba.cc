// Jamba: Mamba with layers of attention without rotation between them, and
// experts in some layers. Lieber et al. 2024, arXiv:2403.19887.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kJamba = {
    .name = "jamba",
    .rotary = {.never = true},
    .recurrence = {.mixer = Mixer::kChannelSpace, .parameter_norms = true},
    .experts = {.presence = Presence::kOptional,
                .optional_routers = true,
                .normalized = false},
};

}  // namespace rc::model
