// The state that the layers of a model keep for a session between steps: pages
// of keys and values, one position after the other, of which a layer with a
// window needs only the last ones, or a state of fixed size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/hyper_parameters.h"
#include "tensor/dtype.h"

namespace rc::model {

// The layout of the KV cache and the states of a model.
struct CacheLayout {
  DType dtype = RC_DTYPE_F16;      // F16, F32 or Q8_0
  int64_t page_size = 32;          // token positions per page
  int64_t pages = 0;               // in all
  int64_t pages_per_sequence = 0;  // the width of the page tables
  int64_t slots = 0;               // in all; for models without states any
  // In all, of layers with a window, which then have a separate page table; 0:
  // they use the pages of the other layers.
  int64_t window_pages = 0;
};

// One cache of a forward program.
struct LayerState {
  enum class Kind {
    kPages,   // [pages, kv_heads, page_size, head_size]
    kWindow,  // the same with CacheLayout::window_pages
    kSlot     // F32 [slots, shape...]
  };
  Kind kind = Kind::kPages;
  std::string name;            // "blk.0.key"
  std::vector<int64_t> shape;  // of a slot; of pages {kv_heads, head_size}
};

// In the order of the program's caches.
std::vector<LayerState> layer_states(const HyperParameters& hyper,
                                     const CacheLayout& layout);

// Returns the number of pages or slots of a cache.
int64_t count_of(LayerState::Kind kind, const CacheLayout& layout);

// Returns the most positions that a row sees in layers with a window; 0 if no
// layer has one.
int64_t widest_window(const HyperParameters& hyper);

// Of one slot: elements of a state, and bytes of all states together.
int64_t slot_elements(const LayerState& state);
uint64_t slot_bytes(const HyperParameters& hyper);

}  // namespace rc::model
