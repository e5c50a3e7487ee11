#include "model/layer_state.h"

#include <algorithm>

#include "base/error.h"

namespace rc::model {

std::vector<LayerState> layer_states(const HyperParameters& hyper,
                                     const CacheLayout& layout) {
  using Kind = LayerState::Kind;
  std::vector<LayerState> states;
  for (size_t i = 0; i < hyper.layers.size(); ++i) {
    const auto add = [&](Kind kind, const char* name,
                         std::vector<int64_t> shape) {
      states.push_back({kind, cat("blk.", i, ".", name), std::move(shape)});
    };
    const Layer& layer = hyper.layers[i];
    if (layer.mixer == Mixer::kAttention) {
      const Kind kind = layer.window > 0 && layout.window_pages > 0
                            ? Kind::kWindow
                            : Kind::kPages;
      add(kind, "key", {layer.kv_heads, hyper.key_size});
      // Latent ones are a part of the keys.
      if (hyper.latent.rank == 0) {
        add(kind, "value", {layer.kv_heads, hyper.value_size});
      }
      continue;
    }
    const StateSpace& space = hyper.state_space;
    const int64_t before = space.conv_width - 1;
    add(Kind::kSlot, "conv_x", {before, space.inner()});
    add(Kind::kSlot, "conv_b", {before, space.groups * space.size});
    add(Kind::kSlot, "conv_c", {before, space.groups * space.size});
    add(Kind::kSlot, "scan", {space.heads, space.head_size, space.size});
  }
  return states;
}

int64_t count_of(LayerState::Kind kind, const CacheLayout& layout) {
  switch (kind) {
    case LayerState::Kind::kPages:
      return layout.pages;
    case LayerState::Kind::kWindow:
      return layout.window_pages;
    case LayerState::Kind::kSlot:
      break;
  }
  return layout.slots;
}

int64_t widest_window(const HyperParameters& hyper) {
  int64_t widest = 0;
  for (const Layer& layer : hyper.layers) {
    if (layer.mixer == Mixer::kAttention) {
      widest = std::max(widest, layer.window);
    }
  }
  return widest;
}

int64_t slot_elements(const LayerState& state) {
  int64_t elements = 1;
  for (const int64_t size : state.shape) elements *= size;
  return elements;
}

uint64_t slot_bytes(const HyperParameters& hyper) {
  int64_t elements = 0;
  for (const LayerState& state : layer_states(hyper, {})) {
    if (state.kind == LayerState::Kind::kSlot) elements += slot_elements(state);
  }
  return static_cast<uint64_t>(elements) * sizeof(float);
}

}  // namespace rc::model
