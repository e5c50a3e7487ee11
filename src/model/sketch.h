// A model file of which only the hyper-parameters are known: what it will take
// can be planned before it exists, or before it is fetched.
//
// It has the tensors that the program of the architecture asks for, with their
// shapes, and those that are named besides; their data are ones.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "files/gguf/file.h"
#include "model/model_file.h"

namespace rc::model {

// `hyper_parameters` is a JSON object as rc_model_estimate (model.h) takes it,
// `type` that of the weights, "" for F16. Throws RC_E_INVALID_ARGUMENT for what
// is no such object or type, and what ModelFile::from_gguf throws for
// hyper-parameters that are missing or no model can have.
std::shared_ptr<const gguf::File> sketch_file(
    const std::string& hyper_parameters, const std::string& type,
    std::optional<ForwardOutput> output);

}  // namespace rc::model
