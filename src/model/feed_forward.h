// The feed-forward part of a layer, dense or of experts.
#pragma once

#include "model/layer_parts.h"

namespace rc::model {

// Of x [rows, width], which is normed where norms are before; gives the
// residual [rows, width] plus what it makes of x.
runtime::Value add_feed_forward(const LayerParts& parts, runtime::Value x,
                                runtime::Value residual);

}  // namespace rc::model
