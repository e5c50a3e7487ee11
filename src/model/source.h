// Models that read a source (Vaswani et al. 2017, arXiv:1706.03762). An encoder
// reads the whole source. Each layer of the decoder computes separate keys and
// values from the encoder's rows, and attends to them after it has attended to
// the earlier rows.
//
// The program has two stages (ForwardStage). The stage that reads a source
// writes its keys and values to the caches of the decoder's layers, which also
// contain the keys and values of the decoder's rows: a session has pages for
// its source, followed by others. While the source is read, the layers of the
// encoder keep their keys and values in the pages of the first of these caches,
// one layer after the other.
#pragma once

#include <vector>

#include "model/forward_inputs.h"
#include "model/layer_parts.h"

namespace rc::model {

// The keys and the values of a layer.
struct LayerCaches {
  runtime::Value keys = runtime::kAbsent;
  runtime::Value values = runtime::kAbsent;
};

// Values of the program, by the names of RC_OP_CACHE_STORE and RC_OP_ATTENTION.
struct SourceInputs {
  runtime::Value positions, sequences, page_table, lengths;
};

// Stores the keys and values that a layer that generates has of the rows of a
// source [rows, width].
void add_source_store(const LayerParts& parts, runtime::Value rows,
                      const LayerCaches& caches, const SourceInputs& inputs);

// The residual [rows, width] and what the layer takes from the source; of the
// output rows alone, if they are given. `inputs` are of the pages of sources.
runtime::Value add_source_attention(const LayerParts& parts, runtime::Value x,
                                    const LayerCaches& caches,
                                    const SourceInputs& inputs,
                                    runtime::Value output_rows);

}  // namespace rc::model
