#include "files/folder/latent_heads.h"

namespace rc::folder {
namespace {

void check(const LatentHead& head, const safetensors::Place& source) {
  constexpr int64_t kMost = 65536;
  for (const int64_t size : {head.heads, head.key, head.value, head.rank}) {
    if (size < 1 || size > kMost) {
      refuse_shape(source, cat("that of heads: 1 to ", kMost,
                               " heads and elements are possible"));
    }
  }
  const int64_t rows = head.heads * (head.key + head.value);
  if (source.tensor->shape != std::vector<int64_t>{rows, head.rank}) {
    refuse_shape(source, cat("[", rows, ", ", head.rank,
                             "], keys and values of each head"));
  }
}

LatentHead latent_head(const Config& config) {
  return {config.get_int("num_attention_heads"),
          config.get_int("qk_nope_head_dim"), config.get_int("v_head_dim"),
          config.get_int("kv_lora_rank")};
}

}  // namespace

TensorView latent_keys(const Config& config, const safetensors::Place& source) {
  return latent_keys(latent_head(config), source);
}

TensorView latent_values(const Config& config,
                         const safetensors::Place& source) {
  return latent_values(latent_head(config), source);
}

TensorView latent_keys(const LatentHead& head,
                       const safetensors::Place& source) {
  check(head, source);
  TensorView view = whole(source);
  view.shape = {head.heads, head.rank, head.key};
  view.rows = static_cast<uint64_t>(head.rank);
  view.columns = static_cast<uint64_t>(head.key);
  view.slabs.clear();
  for (int64_t h = 0; h < head.heads; ++h) {
    const int64_t first = h * (head.key + head.value) * head.rank;
    view.slabs.push_back({source, static_cast<uint64_t>(first), 1, view.rows});
  }
  return view;
}

TensorView latent_values(const LatentHead& head,
                         const safetensors::Place& source) {
  check(head, source);
  TensorView view = whole(source);
  view.shape = {head.heads, head.value, head.rank};
  view.rows = static_cast<uint64_t>(head.value);
  view.columns = static_cast<uint64_t>(head.rank);
  view.slabs.clear();
  for (int64_t h = 0; h < head.heads; ++h) {
    const int64_t first = (h * (head.key + head.value) + head.key) * head.rank;
    view.slabs.push_back(
        {source, static_cast<uint64_t>(first), view.columns, 1});
  }
  return view;
}

}  // namespace rc::folder
