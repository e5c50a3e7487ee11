#include "model/norm.h"

#include "base/cat.h"

namespace rc::model {
namespace {

// "attn_output_norm.weight" -> "attn_output_norm.bias"
std::string bias_of(const std::string& weight) {
  return weight.substr(0, weight.rfind('.')) + ".bias";
}

}  // namespace

Norm norm_of(const Architecture& architecture, const gguf::File& file) {
  return architecture.norm.kind_by_epsilon &&
                 file.find(cat(architecture.name, ".", kEpsilonOfSquares)) !=
                     nullptr
             ? Norm::kRootMeanSquare
             : architecture.norm.kind;
}

runtime::Value add_norm(runtime::ProgramBuilder& builder, Weights& weights,
                        const Architecture& architecture, float epsilon,
                        runtime::Value x, const std::string& name) {
  const runtime::ProgramBuilder::Shape of_x = builder.shape(x);
  if (architecture.attention.head_norm == HeadNorm::kEachItsOwn &&
      of_x.size() == 3) {
    const runtime::Value plain =
        builder.layer_norm(x, runtime::kAbsent, runtime::kAbsent, epsilon);
    return builder.affine(plain, weights.elements(name, {of_x[1], of_x[2]}),
                          runtime::kAbsent);
  }
  const Weights::Shape shape = {of_x.back()};
  const auto weight = [&] { return weights.elements(name, shape); };
  switch (norm_of(architecture, weights.file())) {
    case Norm::kRootMeanSquare:
      break;
    case Norm::kLayer:
      return builder.layer_norm(
          x, weight(), weights.elements(bias_of(name), shape), epsilon);
    case Norm::kLayerUnbiased:
      return builder.layer_norm(x, weight(), runtime::kAbsent, epsilon);
    case Norm::kLayerPlain:
      return builder.layer_norm(x, runtime::kAbsent, runtime::kAbsent, epsilon);
  }
  return builder.rms_norm(x, weight(), epsilon);
}

runtime::Value add_unweighted_norm(runtime::ProgramBuilder& builder,
                                   runtime::Value x, float epsilon) {
  return builder.rms_norm(
      x,
      builder.weight(kOnesWeight, RC_DTYPE_F32, {builder.shape(x).back()},
                     RC_USE_ELEMENTS),
      epsilon);
}

}  // namespace rc::model
