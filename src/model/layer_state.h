// What the layers of a model keep for a session between steps: pages of keys
// and values, one position after the other, or a state of fixed size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/hyper_parameters.h"

namespace rc::model {

// One cache of a forward program.
struct LayerState {
  enum class Kind {
    kPages,  // [pages, kv_heads, page_size, head_size]
    kSlot    // F32 [slots, shape...]
  };
  Kind kind = Kind::kPages;
  std::string name;            // "blk.0.key"
  std::vector<int64_t> shape;  // of a slot; of pages {kv_heads, head_size}
};

// In the order of the program's caches.
std::vector<LayerState> layer_states(const HyperParameters& hyper);

// Of one slot: elements of a state, and bytes of all states together.
int64_t slot_elements(const LayerState& state);
uint64_t slot_bytes(const HyperParameters& hyper);

}  // namespace rc::model
