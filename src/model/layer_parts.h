// The parts of layers: norms, products with weights of the layer, and sums with
// the residual.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "model/architecture.h"
#include "model/weights.h"
#include "runtime/program.h"

namespace rc::model {

// Describes parts of one layer. Derived classes describe larger ones; the
// objects that it is given must outlive it.
class LayerParts {
 public:
  using Value = runtime::Value;

  LayerParts(const gguf::File& file, const Architecture& architecture,
             const HyperParameters& hyper, runtime::ProgramBuilder& builder,
             Weights& weights)
      : file_(file),
        architecture_(architecture),
        names_(architecture.names),
        hyper_(hyper),
        builder_(builder),
        weights_(weights) {}

 protected:
  Value norm(Value x, const char* name);
  // x itself where norms come later.
  Value norm_before(Value x, const char* name);
  // The product with a weight [size, last of x], and the bias if there is one.
  Value linear(Value x, const char* name, int64_t size,
               Presence bias = Presence::kNever,
               Value residual = runtime::kAbsent);
  // The same with `count` rows of a weight of `size`, from `first` on.
  Value linear_rows(Value x, const char* name, int64_t size, int64_t first,
                    int64_t count, Presence bias);
  // [rows, size]; `first` is the number of the first row among those of a fused
  // matrix.
  Value projection(Value x, const char* name, int64_t first, int64_t size);
  // The same of queries, or of their gates, where one matrix has both.
  Value query_pieces(Value x, int64_t first);
  // The result of attention, [rows, heads * value_size], times the sigmoid of
  // its gates, which are made from x.
  Value gated_heads(Value x, Value given);
  bool has_bias(const std::string& stem, Presence bias) const {
    return bias == Presence::kAlways ||
           (bias == Presence::kOptional && weights_.has(stem + ".bias"));
  }
  // The residual plus the product.
  Value joined(Value x, const char* name, Presence bias, const char* post_norm,
               Value residual);
  // The residual plus y, which is normed where norms are behind, or their sum
  // where norms are of sums.
  Value added(Value y, const char* post_norm, Value residual);
  bool normed_behind() const {
    return architecture_.norm.place == NormPlace::kAround ||
           architecture_.norm.place == NormPlace::kBehind;
  }
  Value scaled(Value x, float factor);
  // The layer that is being described.
  const Layer& layer() const { return hyper_.layers[number_]; }
  bool is_last() const { return number_ + 1 == hyper_.layers.size(); }
  std::string in_layer(const std::string& name) const {
    return cat(names_.layer, number_, ".", name);
  }

  const gguf::File& file_;
  const Architecture& architecture_;
  const TensorNames& names_;
  const HyperParameters& hyper_;
  runtime::ProgramBuilder& builder_;
  Weights& weights_;
  size_t number_ = 0;  // of the layer
};

}  // namespace rc::model
