// A residual of several streams, of which each layer computes one and predicts
// the others (AltUp: Baykal et al. 2023, arXiv:2301.13310), and a product of
// low rank next to attention (LAuReL: Menghani et al. 2024, arXiv:2411.07501),
// as in Gemma 3n.
#pragma once

#include <vector>

#include "model/layer_parts.h"

namespace rc::model {

// One value [rows, width] for each stream.
using StreamValues = std::vector<runtime::Value>;

// The initial streams: the embedding [rows, width], and products of it that are
// as large as it.
StreamValues add_streams(const LayerParts& parts, runtime::Value embedding);

// A layer's predictions of the streams: each is the stream plus a sum of all of
// them, with weights that follow from the stream that the layer computes.
StreamValues add_predictions(const LayerParts& parts,
                             const StreamValues& streams);

// The predictions, corrected by how far that of the layer's own stream was from
// `computed`, which is what the layer gives. `input` is the layer's own, see
// per_layer.h; what comes of it is added to all streams but the first.
StreamValues add_corrections(const LayerParts& parts,
                             const StreamValues& predictions,
                             runtime::Value computed, runtime::Value input);

// The mean of the first stream and of products of the others that are as large
// as it, [rows, width].
runtime::Value add_mean_stream(const LayerParts& parts,
                               const StreamValues& streams);

// x [rows, width] plus a normed product of low rank of it.
runtime::Value add_low_rank(const LayerParts& parts, runtime::Value x);

}  // namespace rc::model
