// Separate inputs of each layer for each token, as in Gemma 3n and 4.
//
// Each is a row of a table plus what a product makes of the token's embedding.
// A layer opens a gate with what it has computed, multiplies its input by that,
// and adds what a product makes of it to the residual. Description of the
// models: Gemma 3n's and Gemma 4's cards, and Hugging Face transformers.
#pragma once

#include <span>
#include <vector>

#include "model/layer_parts.h"

namespace rc::model {

// The inputs [rows, HyperParameters::per_layer.size], one for each layer. `ids`
// are the rows of each layer's table, I32 [rows]: those of all layers are
// numbered as one, token by token; embedding [rows, width].
std::vector<runtime::Value> add_per_layer_inputs(
    const LayerParts& parts, std::span<const runtime::Value> ids,
    runtime::Value embedding);

// The contribution of a layer to the residual, [rows, width], of x [rows,
// width] and its input.
runtime::Value add_per_layer_part(const LayerParts& parts, runtime::Value x,
                                  runtime::Value input);

}  // namespace rc::model
