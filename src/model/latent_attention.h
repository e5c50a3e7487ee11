// The mixer of layers with latent attention: see Architecture::latent.
#pragma once

#include <string>

#include "model/architecture.h"
#include "model/rotation.h"
#include "model/weights.h"
#include "runtime/program.h"

namespace rc::model {

// Values of the program that the layers of a model share.
struct LatentInputs {
  runtime::Value positions, sequences, page_table;
  // I32 [rows, heads]: for each row 0, 1, ... With it a product treats heads as
  // experts, each with a separate matrix.
  runtime::Value head_numbers;
  Rotation rotation;  // without frequencies where nothing rotates
};

// Over x [rows, width], up to the product that leads back to the width:
// [rows, heads * value]. Keys and values are not made: the matrices that would
// make them are applied to the queries and to the result instead, and `cache`
// [pages, 1, page_size, key_size] has what they are made from (DeepSeek-AI
// 2024, arXiv:2405.04434, section 2.1.2). `name` is "blk.N.".
runtime::Value add_latent_attention(runtime::ProgramBuilder& builder,
                                    Weights& weights,
                                    const Architecture& architecture,
                                    const HyperParameters& hyper,
                                    const std::string& name, const Layer& layer,
                                    runtime::Value x, runtime::Value cache,
                                    const LatentInputs& inputs);

}  // namespace rc::model
