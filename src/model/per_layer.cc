#include "model/per_layer.h"

#include <cmath>

#include "model/norm.h"

namespace rc::model {
namespace {

using runtime::Value;

class PerLayerInputs : private LayerParts {
 public:
  explicit PerLayerInputs(const LayerParts& parts) : LayerParts(parts) {}

  std::vector<Value> inputs(std::span<const Value> ids, Value embedding) {
    std::vector<Value> inputs;
    for (size_t i = 0; i < ids.size(); ++i) {
      inputs.push_back(
          input(ids[i], embedding, static_cast<int64_t>(i) * size_));
    }
    return inputs;
  }

  Value part(Value x, Value input) {
    const Value gate = linear(x, names_.per_layer_gate, size_);
    const Value opened =
        builder_.glu(gate, input, architecture_.feed_forward.gate.function);
    return norm(linear(opened, names_.per_layer_output, hyper_.width),
                names_.post_per_layer_norm);
  }

 private:
  // `first` is the layer's first row of the product for all layers.
  Value input(Value ids, Value embedding, int64_t first) {
    const int64_t all = size_ * hyper_.layer_count();
    const int64_t count = hyper_.per_layer.vocabulary;
    const Value table =
        weights_.matrix(names_.per_layer_embedding, {count, all},
                        {count * hyper_.layer_count(), size_}, RC_USE_ROWS);
    const Value own = builder_.scale(builder_.get_rows(table, ids),
                                     std::sqrt(static_cast<float>(size_)));
    const Value product = builder_.linear(
        embedding,
        weights_.matrix_rows(names_.per_layer_projection, {all, hyper_.width},
                             first, size_, RC_USE_LINEAR));
    const Value projected = add_norm(
        builder_, weights_, architecture_, hyper_.norm_epsilon,
        builder_.scale(product,
                       1.0f / std::sqrt(static_cast<float>(hyper_.width))),
        names_.per_layer_norm);
    return builder_.scale(builder_.add(projected, own), std::sqrt(0.5f));
  }

  const int64_t size_ = hyper_.per_layer.size;
};

}  // namespace

std::vector<Value> add_per_layer_inputs(const LayerParts& parts,
                                        std::span<const Value> ids,
                                        Value embedding) {
  return PerLayerInputs(parts).inputs(ids, embedding);
}

Value add_per_layer_part(const LayerParts& parts, Value x, Value input) {
  return PerLayerInputs(parts).part(x, input);
}

}  // namespace rc::model
