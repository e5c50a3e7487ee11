// Which experts a row has, and how much each counts.
#pragma once

#include <string>

#include "model/architecture.h"
#include "model/weights.h"
#include "runtime/program.h"

namespace rc::model {

// By the router's results [rows, experts]. `layer` is "blk.N.".
runtime::ProgramBuilder::Route add_routing(runtime::ProgramBuilder& builder,
                                           Weights& weights,
                                           const Architecture& architecture,
                                           const HyperParameters& hyper,
                                           const std::string& layer,
                                           runtime::Value scores);

// x [rows, width], each row times its number of `shares` [rows, 1].
runtime::Value add_times(runtime::ProgramBuilder& builder, runtime::Value x,
                         runtime::Value shares);

}  // namespace rc::model
