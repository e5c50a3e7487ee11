// Gates of which only the largest elements of a row are kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/layer_parts.h"
#include "model/rope_weights.h"

namespace rc::model {

// Names of weights that no tensor of a file has: for the mean of `size`
// elements, F32 [1, size], and for the cut-off of a layer, F32 [size].
std::string mean_weight_name(int64_t size);
std::string cutoff_weight_name(int64_t layer);

// 1 / size, `size` times.
std::vector<float> mean_weight(int64_t size);

// Those that the forward pass of a model needs.
void make_row_weights(const HyperParameters& hyper, MadeWeights& made);

// The root of the mean of the squares of each row of x [rows, size], [rows, 1];
// `unit` is x divided by that.
runtime::Value add_magnitude(runtime::ProgramBuilder& builder, runtime::Value x,
                             runtime::Value unit);
// x [rows, size] divided by the root of the mean of its squares, with nothing
// added to that.
runtime::Value add_unit(runtime::ProgramBuilder& builder, runtime::Value x);

// Returns the part of each element of the gate [rows, size] above the row's
// mean plus Layer::cutoff standard deviations, 0 for elements below that. If
// the elements of a row are distributed normally, a known share of them is kept
// (Gemma 3n's card: the first layers keep 5 of 100).
runtime::Value add_cutoff(runtime::ProgramBuilder& builder,
                          const HyperParameters& hyper, int64_t layer,
                          runtime::Value gate);

}  // namespace rc::model
