#include "model/latent_attention.h"

#include "base/error.h"

namespace rc::model {
namespace {

using runtime::kAbsent;
using runtime::Value;

// The epsilon of the norms of short vectors without
// Architecture::latent_epsilon; no file says it.
constexpr float kShortNormEpsilon = 1e-6f;

class LatentAttention {
 public:
  LatentAttention(runtime::ProgramBuilder& builder, Weights& weights,
                  const Architecture& architecture,
                  const HyperParameters& hyper, const std::string& name,
                  const Layer& layer, const LatentInputs& inputs)
      : builder_(builder),
        weights_(weights),
        architecture_(architecture),
        names_(architecture.names),
        hyper_(hyper),
        latent_(latent_of(hyper, layer)),
        name_(name),
        heads_(layer.heads),
        window_(layer.window),
        inputs_(inputs) {}

  Value add(Value x, Value cache) {
    const Value q = queries(x);
    builder_.cache_store(keys(x), inputs_.positions, inputs_.sequences,
                         inputs_.page_table, cache);
    runtime::ProgramBuilder::GeneralAttention how = {};
    how.q = q;
    how.key_cache = cache;
    how.value_cache = kAbsent;
    how.positions = inputs_.positions;
    how.sequences = inputs_.sequences;
    how.page_table = inputs_.page_table;
    how.scale = static_cast<float>(architecture_.latent.separate_for_windows
                                       ? latent_.scale()
                                       : architecture_.attention.scale(hyper_));
    how.window = window_;
    how.value_size = latent_.rank;
    const Value y = builder_.expert_linear(builder_.general_attention(how),
                                           value_up(), inputs_.head_numbers);
    return builder_.reshape(y, {RC_DIM_ROWS, heads_ * latent_.value});
  }

 private:
  std::string matrix_name(const char* name) const {
    return cat(name_, name, ".weight");
  }

  Value norm(Value x, const char* name) {
    return builder_.rms_norm(
        x, weights_.elements(name_ + name, {builder_.shape(x).back()}),
        architecture_.latent.model_epsilon ? hyper_.norm_epsilon
                                           : kShortNormEpsilon);
  }

  Value rope(Value x) {
    return inputs_.rotation.frequencies == kAbsent
               ? x
               : add_rotation(builder_, inputs_.rotation, x);
  }

  // The vector from which the queries of all heads are made, and the name of
  // the matrix.
  Value query_source(Value x, const char*& name) {
    name = names_.query;
    if (latent_.query_rank == 0) return x;
    name = names_.query_up;
    const Value down =
        weights_.matrix(matrix_name(names_.query_down),
                        {latent_.query_rank, hyper_.width}, RC_USE_LINEAR);
    return norm(builder_.linear(x, down), names_.query_down_norm);
  }

  // [rows, heads, rank + rotated]: seen by the cache, not by the keys.
  Value queries(Value x) {
    const char* name = nullptr;
    const Value source = query_source(x, name);
    const int64_t all = latent_.unrotated + latent_.rotated;
    const auto part = [&](int64_t first, int64_t count) {
      const Value weight = weights_.rows_of_heads(
          matrix_name(name), {heads_ * all, builder_.shape(source).back()},
          {first, count, all, false}, RC_USE_LINEAR);
      return builder_.reshape(builder_.linear(source, weight),
                              {RC_DIM_ROWS, heads_, count});
    };
    const Value within = builder_.expert_linear(part(0, latent_.unrotated),
                                                key_up(), inputs_.head_numbers);
    return builder_.join(within,
                         rope(part(latent_.unrotated, latent_.rotated)));
  }

  // [rows, 1, rank + rotated]
  Value keys(Value x) {
    const auto part = [&](int64_t first, int64_t count) {
      return builder_.linear(
          x,
          weights_.matrix_rows(matrix_name(names_.kv_down),
                               {latent_.rank + latent_.rotated, hyper_.width},
                               first, count, RC_USE_LINEAR));
    };
    const Value latent = norm(part(0, latent_.rank), names_.kv_down_norm);
    Value rotating = part(latent_.rank, latent_.rotated);
    if (architecture_.latent.normed_keys) {
      rotating = norm(rotating, names_.key_norm);
    }
    const Value turned =
        rope(builder_.reshape(rotating, {RC_DIM_ROWS, 1, latent_.rotated}));
    return builder_.join(
        builder_.reshape(latent, {RC_DIM_ROWS, 1, latent_.rank}), turned);
  }

  // [heads, rank, unrotated]
  Value key_up() {
    if (weights_.has(matrix_name(names_.key_up))) {
      return weights_.matrix(matrix_name(names_.key_up),
                             {heads_, latent_.rank, latent_.unrotated},
                             RC_USE_EXPERTS);
    }
    return of_both(0, latent_.unrotated, true);
  }

  // [heads, value, rank]
  Value value_up() {
    if (weights_.has(matrix_name(names_.value_up))) {
      return weights_.matrix(matrix_name(names_.value_up),
                             {heads_, latent_.value, latent_.rank},
                             RC_USE_EXPERTS);
    }
    return of_both(latent_.unrotated, latent_.value, false);
  }

  Value of_both(int64_t first, int64_t count, bool turned) {
    const int64_t all = latent_.unrotated + latent_.value;
    return weights_.rows_of_heads(matrix_name(names_.kv_up),
                                  {heads_ * all, latent_.rank},
                                  {first, count, all, turned}, RC_USE_EXPERTS);
  }

  runtime::ProgramBuilder& builder_;
  Weights& weights_;
  const Architecture& architecture_;
  const TensorNames& names_;
  const HyperParameters& hyper_;
  const Latent& latent_;
  const std::string& name_;
  int64_t heads_;
  int64_t window_;
  const LatentInputs& inputs_;
};

}  // namespace

Value add_latent_attention(runtime::ProgramBuilder& builder, Weights& weights,
                           const Architecture& architecture,
                           const HyperParameters& hyper,
                           const std::string& name, const Layer& layer, Value x,
                           Value cache, const LatentInputs& inputs) {
  return LatentAttention(builder, weights, architecture, hyper, name, layer,
                         inputs)
      .add(x, cache);
}

}  // namespace rc::model
