// The output of a model that gives no logits: rows of the last layer, or scores
// of pairs of texts.
#pragma once

#include <optional>

#include "model/architecture.h"
#include "model/model_file.h"
#include "model/weights.h"
#include "runtime/program.h"

namespace rc::model {

// Returns the output of a file, whose pooling_type is `pooling`, if `wanted` is
// requested, or the output that the file is made for without a request. Throws
// RC_E_UNSUPPORTED if the model cannot have that output.
ForwardOutput settle_output(const gguf::File& file,
                            const Architecture& architecture, int64_t pooling,
                            std::optional<ForwardOutput> wanted);

// Whether the file has matrices that turn a hidden row into scores: "cls",
// "cls.output", or both.
bool has_classifier(const gguf::File& file);

// The tokens "yes" and "no" of a decoder that answers with one of them. Throws
// RC_E_UNSUPPORTED if it has no tokenizer, or they are not one token each.
ScoreTokens score_tokens(const gguf::File& file,
                         const text::Tokenizer* tokenizer);

// Of normed hidden rows [outputs, width] the logits [outputs, vocabulary].
runtime::Value add_logits(runtime::ProgramBuilder& builder, Weights& weights,
                          const Architecture& architecture,
                          const HyperParameters& hyper, runtime::Value x);

// Of hidden rows [outputs, width] the scores [outputs, classes]. The matrix
// "cls" has a hyperbolic tangent behind it if "cls.output" follows; Devlin et
// al. 2018, arXiv:1810.04805, call it the pooler.
runtime::Value add_classifier(runtime::ProgramBuilder& builder,
                              Weights& weights, const HyperParameters& hyper,
                              runtime::Value x);

// Of normed hidden rows [outputs, width] the scores [outputs, 1]: by how much
// the logit of "yes" is above that of "no".
runtime::Value add_comparison(runtime::ProgramBuilder& builder,
                              Weights& weights, const TensorNames& names,
                              const HyperParameters& hyper,
                              const ScoreTokens& tokens, runtime::Value x);

}  // namespace rc::model
