// Spreads the layers of a model over the devices of a chain: as many as fit on
// the first, as many of the rest as fit on the second, and so on; the last
// device takes the remaining layers. A model that does not fit on the first
// device alone has its embedding table and its output matrix on the last
// device: there, looking up a row and going from the last layer to the logits
// need no more crossings, and a file that uses one table for both needs it
// once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "engine/engine.h"
#include "model/placement.h"

namespace rc::engine {

// Of the weights of a placement on a device: what the caller pays for already,
// or will for others whose memory is reserved, bytes.
uint64_t paid_already(const model::Placement& placement,
                      const runtime::Device& device,
                      const EngineOptions& options);

class DeviceSplit {
 public:
  // Of the resident options everything but the number of pages; after changing
  // them forget() what was found. All must outlive this.
  DeviceSplit(const model::ModelFile& file, const runtime::DeviceChain& chain,
              const model::ResidentOptions& resident,
              const EngineOptions& options);

  void forget() { costs_.clear(); }

  // Which device each part lies on; see model::place.
  using Parts = std::vector<size_t>;
  const Parts& all_on_first() const { return all_on_first_; }
  // The fullest first devices that hold a cache of that many pages each. That
  // the last one holds the rest is not said. Opens the chain.
  Parts fill(int64_t pages);

  // The most pages of cache with which everything lies within its memory;
  // `most_pages` if nothing is known of the memory.
  int64_t room(const Parts& parts, int64_t most_pages);
  // The same for the best of all ways to fill the devices.
  int64_t largest_room(int64_t most);

  // Whether the chain has other devices than the first.
  bool has_next();
  model::Placement place(const Parts& parts, int64_t pages) const;
  // Of a device, bytes; 0: unknown.
  uint64_t available(const runtime::Device& device) const;
  // Whether a device of the placement has enough.
  bool fits(const model::Placement& placement, size_t device) const;

 private:
  // The cost of one page and the memory without pages, by device.
  struct Cost {
    std::shared_ptr<runtime::Device> device;
    uint64_t fixed;
    uint64_t page;
    uint64_t most;  // that may lie there, weights of others and all
  };
  const std::vector<Cost>& costs(const Parts& parts);
  bool fits(const Cost& cost, int64_t pages) const;
  // The most bytes that may lie on a device of the placement. Weights that are
  // there already need no free memory; but the limit counts those of others,
  // for which this one has to pay once their owner is gone.
  uint64_t most(const model::Placement& placement, size_t device) const;
  uint64_t limit(const runtime::Device& device) const;
  uint64_t free_memory(const runtime::Device& device) const;
  // The part of it that is not reserved for others.
  uint64_t left(uint64_t bytes, uint64_t reserved) const;

  const model::ModelFile& file_;
  const runtime::DeviceChain& chain_;
  const model::ResidentOptions& resident_;
  const EngineOptions& options_;
  const Parts all_on_first_;
  std::vector<std::shared_ptr<runtime::Device>> devices_;  // as far as opened
  bool opened_ = false;
  mutable std::map<const runtime::Device*, uint64_t> free_;
  std::map<Parts, std::vector<Cost>> costs_;
};

}  // namespace rc::engine
