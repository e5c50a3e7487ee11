// Lightning attention: linear attention whose state fades by a rate that each
// head of each layer has (Qin et al. 2024, arXiv:2401.04658; MiniMax 2025,
// arXiv:2501.08313).
#pragma once

#include "model/rope_weights.h"
#include "model/state_space.h"

namespace rc::model {

// Adds the weights that add_lightning needs of layers that are of this kind.
void make_lightning(const HyperParameters& hyper, MadeWeights& made);

// The mixer, up to the product that leads back to the width: [rows, inner].
runtime::Value add_lightning(const StateLayer& layer, runtime::Value x);

}  // namespace rc::model
