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
    const StateSpace& space = hyper.state_space;
    const int64_t before = space.conv_width - 1;
    const auto add_conv = [&](const char* name, int64_t channels) {
      add(Kind::kSlot, name, {before, channels});
    };
    if (layer.has_cache()) {
      const Kind kind = layer.window > 0 && layout.window_pages > 0
                            ? Kind::kWindow
                            : Kind::kPages;
      add(kind, "key", {layer.kv_heads, layer.key_size});
      // Latent ones are a part of the keys.
      if (hyper.latent.rank == 0) {
        add(kind, "value", {layer.kv_heads, layer.value_size});
      }
    }
    switch (layer.mixer) {
      case Mixer::kAttention:
      case Mixer::kNone:
        break;
      case Mixer::kStateSpace:
      case Mixer::kBoth:
        add_conv("conv_x", space.inner());
        add_conv("conv_b", space.groups * space.size);
        add_conv("conv_c", space.groups * space.size);
        add(Kind::kSlot, "scan", {space.heads, space.head_size, space.size});
        break;
      case Mixer::kChannelSpace:
        add_conv("conv", space.inner());
        add(Kind::kSlot, "scan", {space.inner(), space.size});
        break;
      case Mixer::kLightning:
        add(Kind::kSlot, "scan", {space.heads, space.head_size, space.size});
        break;
      case Mixer::kShortConv:
        add_conv("conv", hyper.width);
        break;
      case Mixer::kTimeMix6:
      case Mixer::kTimeMix7:
        add_conv("row_before_time", hyper.width);
        add(Kind::kSlot, "fading", {space.heads, space.head_size, space.size});
        add_conv("row_before_channels", hyper.width);
        break;
      case Mixer::kColumnRule:
        for (const char* name : {"conv_q", "conv_k", "conv_v"}) {
          add_conv(name, space.inner());
        }
        add(Kind::kSlot, "rule", {space.heads, space.head_size, space.size});
        break;
      case Mixer::kDeltaRule:
        add_conv("conv_q", space.groups * space.size);
        add_conv("conv_k", space.groups * space.size);
        add_conv("conv_v", space.inner());
        add(Kind::kSlot, "rule", {space.heads, space.head_size, space.size});
        break;
    }
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
    if (layer.attends()) {
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
