#include "model/relative_bias.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "model/weights.h"
#include "tensor/dtype.h"

namespace rc::model {
namespace {

constexpr std::string_view kDistancesOf = "(distances of ";

// [heads, kDistanceSpan] of a tensor [buckets, heads].
std::vector<float> relative_biases(const gguf::File& file,
                                   const std::string& tensor, int64_t heads,
                                   int64_t buckets, bool causal) {
  const gguf::Tensor& found = check_matrix(file, tensor, {buckets, heads});
  const auto bytes = file.read(found);
  const uint64_t row = *row_bytes(found.dtype, heads);
  std::vector<float> of_bucket(static_cast<size_t>(buckets * heads));
  for (int64_t b = 0; b < buckets; ++b) {
    decode_row(found.dtype, bytes.data() + static_cast<uint64_t>(b) * row,
               of_bucket.data() + b * heads, heads);
  }
  std::vector<float> biases;
  biases.reserve(static_cast<size_t>(heads * kDistanceSpan));
  for (int64_t h = 0; h < heads; ++h) {
    for (int64_t d = -kFarthest; d <= kFarthest; ++d) {
      const int64_t bucket = bucket_of(d, buckets, causal);
      biases.push_back(of_bucket[static_cast<size_t>(bucket * heads + h)]);
    }
  }
  return biases;
}

}  // namespace

int64_t bucket_of(int64_t distance, int64_t buckets, bool causal) {
  int64_t first = 0;
  if (!causal) {
    buckets /= 2;
    if (distance > 0) first = buckets;
  }
  const int64_t far =
      causal ? std::max<int64_t>(-distance, 0) : std::abs(distance);
  const int64_t exact = buckets / 2;
  if (far < exact) return first + far;
  const double share =
      std::log(static_cast<double>(far) / static_cast<double>(exact)) /
      std::log(static_cast<double>(kFarthest) / static_cast<double>(exact));
  const auto wider =
      static_cast<int64_t>(share * static_cast<double>(buckets - exact));
  return first + std::min(exact + wider, buckets - 1);
}

std::string relative_bias_tensor(const gguf::File& file,
                                 const TensorNames& names,
                                 const std::string& layer) {
  std::string own = layer + names.relative_bias;
  return file.find_tensor(own) != nullptr
             ? own
             : cat(names.layer, "0.", names.relative_bias);
}

std::string distances_weight_name(const std::string& tensor) {
  return cat(kDistancesOf, tensor, ")");
}

const gguf::Tensor* tensor_of_distances(const gguf::File& file,
                                        const std::string& weight) {
  if (!weight.starts_with(kDistancesOf)) return nullptr;
  return file.find_tensor(weight.substr(
      kDistancesOf.size(), weight.size() - kDistancesOf.size() - 1));
}

void make_relative_biases(const gguf::File& file,
                          const Architecture& architecture,
                          const HyperParameters& hyper, MadeWeights& made) {
  if (hyper.relative_buckets == 0) return;
  for (int64_t i = 0; i < hyper.layer_count(); ++i) {
    const std::string tensor = relative_bias_tensor(
        file, architecture.names, cat(architecture.names.layer, i, "."));
    const std::string name = distances_weight_name(tensor);
    if (made.contains(name)) continue;
    made.emplace(name, relative_biases(file, tensor, hyper.layers[0].heads,
                                       hyper.relative_buckets,
                                       architecture.attention.causal));
  }
}

}  // namespace rc::model
