#include "model/alternating.h"

#include <algorithm>
#include <cmath>

#include "model/norm.h"
#include "model/per_layer.h"
#include "model/routing.h"
#include "model/sparsity.h"

namespace rc::model {
namespace {

using runtime::kAbsent;
using runtime::Value;

// The least mean of squares that a stream is divided by the root of.
constexpr float kLeastSquare = 1e-5f;

class Alternating : private LayerParts {
 public:
  explicit Alternating(const LayerParts& parts) : LayerParts(parts) {}

  StreamValues begin(Value embedding);
  StreamValues predict(const StreamValues& streams);
  StreamValues correct(const StreamValues& predictions, Value computed,
                       Value input);
  Value mean(const StreamValues& streams);
  Value low_rank(Value x);

 private:
  // The product with one of a stack of matrices, made as large as `model`
  // [rows, width], whose magnitude [rows, 1] is `magnitude`.
  Value as_large(const char* stack, int64_t number, Value x, Value magnitude);
  // The values from which the weights of streams follow, [rows, streams].
  Value router(Value x);
  // Side by side, [rows, streams, width].
  Value joined_streams(const StreamValues& streams);

  const int64_t count_ = hyper_.streams.count;
  const auto& active(const StreamValues& streams) const {
    return streams[static_cast<size_t>(hyper_.streams.active)];
  }
};

Value Alternating::as_large(const char* stack, int64_t number, Value x,
                            Value magnitude) {
  const int64_t width = hyper_.width;
  const Value product = builder_.linear(
      x, weights_.matrix_of_stack(stack, {count_ - 1, width, width}, number,
                                  RC_USE_LINEAR));
  const Value unit = add_unit(builder_, product);
  // Smaller products stay smaller.
  const Value share =
      builder_.clamp(builder_.scale(add_magnitude(builder_, product, unit),
                                    1.0f / std::sqrt(kLeastSquare)),
                     1.0f);
  return add_times(builder_, unit, builder_.multiply(magnitude, share));
}

StreamValues Alternating::begin(Value embedding) {
  StreamValues streams = {embedding};
  if (count_ == 1) return streams;
  const Value magnitude =
      add_magnitude(builder_, embedding, add_unit(builder_, embedding));
  for (int64_t i = 1; i < count_; ++i) {
    streams.push_back(
        as_large(names_.stream_projections, i - 1, embedding, magnitude));
  }
  return streams;
}

Value Alternating::mean(const StreamValues& streams) {
  if (count_ == 1) return streams[0];
  Value sum = streams[0];
  const Value magnitude = add_magnitude(builder_, sum, add_unit(builder_, sum));
  for (int64_t i = 1; i < count_; ++i) {
    sum =
        builder_.add(sum, as_large(names_.stream_returns, i - 1,
                                   streams[static_cast<size_t>(i)], magnitude));
  }
  return builder_.scale(sum, 1.0f / static_cast<float>(count_));
}

Value Alternating::router(Value x) {
  const Value normed = builder_.scale(norm(x, names_.stream_router_norm),
                                      1.0f / static_cast<float>(hyper_.width));
  return builder_.unary(linear(normed, names_.stream_router, count_),
                        RC_FUNCTION_TANH);
}

Value Alternating::joined_streams(const StreamValues& streams) {
  const int64_t rows = builder_.shape(streams[0]).front();
  Value joined = kAbsent;
  for (const Value stream : streams) {
    const Value one = builder_.reshape(stream, {rows, 1, hyper_.width});
    joined = joined == kAbsent ? one : builder_.join(joined, one);
  }
  return builder_.reshape(joined, {rows, count_, hyper_.width});
}

StreamValues Alternating::predict(const StreamValues& streams) {
  const Value routed = router(active(streams));
  const Value all = joined_streams(streams);
  StreamValues predictions;
  for (int64_t i = 0; i < count_; ++i) {
    const Value weights = builder_.linear(
        routed, weights_.matrix_rows(in_layer(names_.stream_predictions),
                                     {count_ * count_, count_}, i * count_,
                                     count_, RC_USE_LINEAR));
    predictions.push_back(builder_.add(builder_.expert_sum(all, weights),
                                       streams[static_cast<size_t>(i)]));
  }
  return predictions;
}

StreamValues Alternating::correct(const StreamValues& predictions,
                                  Value computed, Value input) {
  const Value routed = router(computed);
  const Value missed =
      builder_.add(computed, builder_.scale(active(predictions), -1.0f));
  StreamValues streams;
  for (int64_t i = 0; i < count_; ++i) {
    const Value weight = builder_.linear(
        routed, weights_.matrix_rows(in_layer(names_.stream_corrections),
                                     {count_, count_}, i, 1, RC_USE_LINEAR));
    // By one plus the weight.
    const Value correction =
        builder_.add(add_times(builder_, missed, weight), missed);
    streams.push_back(
        builder_.add(correction, predictions[static_cast<size_t>(i)]));
  }
  const Value first = builder_.affine(
      active(streams),
      weights_.elements(in_layer(names_.stream_scale), {hyper_.width}),
      kAbsent);
  const Value part = add_per_layer_part(*this, first, input);
  for (size_t i = 1; i < streams.size(); ++i) {
    streams[i] = builder_.add(streams[i], part);
  }
  return streams;
}

Value Alternating::low_rank(Value x) {
  const std::string name = in_layer(cat(names_.low_rank_down, ".weight"));
  const gguf::Tensor* tensor = file_.find_tensor(name);
  const int64_t rank = tensor == nullptr || tensor->shape.empty()
                           ? 1
                           : std::max<int64_t>(1, tensor->shape[0]);
  const Value down = linear(x, names_.low_rank_down, rank);
  const Value up = linear(down, names_.low_rank_up, hyper_.width);
  return builder_.add(x, norm(up, names_.low_rank_norm));
}

}  // namespace

StreamValues add_streams(const LayerParts& parts, Value embedding) {
  return Alternating(parts).begin(embedding);
}

StreamValues add_predictions(const LayerParts& parts,
                             const StreamValues& streams) {
  return Alternating(parts).predict(streams);
}

StreamValues add_corrections(const LayerParts& parts,
                             const StreamValues& predictions, Value computed,
                             Value input) {
  return Alternating(parts).correct(predictions, computed, input);
}

Value add_mean_stream(const LayerParts& parts, const StreamValues& streams) {
  return Alternating(parts).mean(streams);
}

Value add_low_rank(const LayerParts& parts, Value x) {
  return Alternating(parts).low_rank(x);
}

}  // namespace rc::model
