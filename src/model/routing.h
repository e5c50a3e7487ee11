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

}  // namespace rc::model
