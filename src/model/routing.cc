#include "model/routing.h"

#include "base/cat.h"

namespace rc::model {
namespace {

// The name of the bias in the file: some converters of an architecture end it
// with ".bias", others do not.
std::string bias_name(const Weights& weights, const Architecture& architecture,
                      const std::string& layer) {
  const std::string name = layer + architecture.names.selection_bias;
  if (weights.has(name)) return name;
  constexpr std::string_view kEnd = ".bias";
  const std::string other = name.ends_with(kEnd)
                                ? name.substr(0, name.size() - kEnd.size())
                                : cat(name, kEnd);
  return weights.has(other) ? other : name;
}

}  // namespace

runtime::ProgramBuilder::Route add_routing(runtime::ProgramBuilder& builder,
                                           Weights& weights,
                                           const Architecture& architecture,
                                           const HyperParameters& hyper,
                                           const std::string& layer,
                                           runtime::Value scores) {
  if (architecture.experts.weighted_inputs) {
    return builder.choose_in_groups(scores, runtime::kAbsent,
                                    hyper.experts_used, RC_SCORE_SIGMOID, false,
                                    {});
  }
  if (architecture.experts.sparse_mix) {
    // The value of its training: twice the noise of the inputs, 0.01.
    Op op = {.code = RC_OP_SPARSE_MIX};
    op.params.sparse_mix.margin = 0.02f;
    const std::vector<runtime::Value> made =
        builder.append(op, {scores}, {{"k", hyper.experts_used}});
    return {made[0], made[1]};
  }
  if (!architecture.experts.selection_bias) {
    return builder.route(scores, hyper.experts_used, hyper.normalized_routing);
  }
  const std::string name = bias_name(weights, architecture, layer);
  if (!architecture.experts.grouped && hyper.expert_groups == 1) {
    return builder.choose(scores, weights.elements(name, {hyper.experts}),
                          hyper.experts_used, hyper.expert_score,
                          hyper.normalized_routing);
  }
  // DeepSeek V2, with softmax, takes the best expert of a group for its score,
  // V3, with sigmoid, the best two.
  const int best = hyper.expert_score == RC_SCORE_SIGMOID &&
                           hyper.experts > hyper.expert_groups
                       ? 2
                       : 1;
  return builder.choose_in_groups(
      scores,
      !architecture.experts.grouped || weights.has(name)
          ? weights.elements(name, {hyper.experts})
          : runtime::kAbsent,
      hyper.experts_used, hyper.expert_score, hyper.normalized_routing,
      {hyper.expert_groups, hyper.expert_groups_used, best});
}

runtime::Value add_times(runtime::ProgramBuilder& builder, runtime::Value x,
                         runtime::Value shares) {
  // The sum over one expert.
  const runtime::ProgramBuilder::Shape shape = builder.shape(x);
  return builder.expert_sum(
      builder.reshape(x, {shape.front(), 1, shape.back()}), shares);
}

}  // namespace rc::model
