#include "model/attention.h"

#include "model/alibi.h"
#include "model/relative_bias.h"

namespace rc::model {

runtime::Value add_attention(runtime::ProgramBuilder& builder, Weights& weights,
                             const Architecture& architecture,
                             const HyperParameters& hyper, const Layer& layer,
                             const std::string& name,
                             runtime::ProgramBuilder::GeneralAttention how) {
  how.scale = static_cast<float>(hyper.attention_scale != 0.0f
                                     ? hyper.attention_scale
                                     : architecture.attention.scale(hyper));
  how.softcap = hyper.attention_softcap;
  (architecture.position.chunked_windows ? how.chunk : how.window) =
      layer.window;
  const std::string sinks = name + architecture.names.attention_sinks;
  if (architecture.attention.sinks == Presence::kAlways ||
      (architecture.attention.sinks == Presence::kOptional &&
       weights.has(sinks))) {
    how.sinks = weights.elements(sinks, {layer.heads});
  }
  if (layer.rope == Layer::kUnrotated && hyper.temperature > 0.0f) {
    how.temperature = hyper.temperature;
    how.temperature_length = hyper.temperature_length;
  }
  if (hyper.alibi > 0.0f) {
    how.slopes = builder.weight(slopes_weight_name(layer.heads), RC_DTYPE_F32,
                                {layer.heads}, RC_USE_ELEMENTS);
  }
  if (hyper.relative_buckets > 0) {
    const std::string bias =
        relative_bias_tensor(weights.file(), architecture.names, name);
    how.distances =
        builder.weight(distances_weight_name(bias), RC_DTYPE_F32,
                       {layer.heads, kDistanceSpan}, RC_USE_ELEMENTS);
  }
  if (hyper.alibi > 0.0f || hyper.relative_buckets > 0 || how.chunk > 0 ||
      how.temperature > 0.0f || layer.value_size != layer.key_size) {
    return builder.general_attention(how);
  }
  return builder.attention(how.q, how.key_cache, how.value_cache, how.positions,
                           how.sequences, how.page_table, how.scale,
                           how.softcap, how.window, how.sinks, how.lengths);
}

}  // namespace rc::model
