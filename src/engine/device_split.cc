#include "engine/device_split.h"

#include <algorithm>

namespace rc::engine {

uint64_t paid_already(const model::Placement& placement,
                      const runtime::Device& device,
                      const EngineOptions& options) {
  uint64_t bytes = 0;
  for (const auto& shared : placement.shared) {
    if (shared.device != &device) continue;
    const bool reserved = shared.weight == nullptr;
    if (reserved ||
        (options.has_weight && options.has_weight(*shared.weight))) {
      bytes += shared.bytes;
    }
  }
  return bytes;
}

DeviceSplit::DeviceSplit(const model::ModelFile& file,
                         const runtime::DeviceChain& chain,
                         const model::ResidentOptions& resident,
                         const EngineOptions& options)
    : file_(file),
      chain_(chain),
      resident_(resident),
      options_(options),
      all_on_first_(model::part_count(file), 0),
      devices_{chain.first()} {}

bool DeviceSplit::has_next() {
  if (!opened_) {
    devices_ = chain_.open();
    opened_ = true;
  }
  return devices_.size() > 1;
}

uint64_t DeviceSplit::free_memory(const runtime::Device& device) const {
  // Asked once: what others do meanwhile must not confuse the search.
  const auto [known, added] = free_.try_emplace(&device, 0);
  if (added) {
    known->second = device.info().free_memory;
    if (options_.reserved != nullptr) {
      known->second = left(known->second, options_.reserved->bytes(device));
    }
  }
  return known->second;
}

// 0 would be unknown, or no limit.
uint64_t DeviceSplit::left(uint64_t bytes, uint64_t reserved) const {
  if (bytes == 0) return 0;
  return bytes > reserved ? bytes - reserved : 1;
}

uint64_t DeviceSplit::limit(const runtime::Device& device) const {
  if (&device != chain_.first().get()) return 0;
  if (options_.reserved == nullptr) return options_.memory_limit;
  return left(options_.memory_limit, options_.reserved->limited());
}

uint64_t DeviceSplit::available(const runtime::Device& device) const {
  const uint64_t free = free_memory(device);
  const uint64_t limited = limit(device);
  return limited != 0 && (free == 0 || limited < free) ? limited : free;
}

uint64_t DeviceSplit::most(const model::Placement& placement,
                           size_t device) const {
  const model::DeviceMemory& here = placement.memory.devices[device];
  const uint64_t free = free_memory(*here.device);
  const uint64_t most = free == 0 || free > UINT64_MAX - here.shared
                            ? UINT64_MAX
                            : free + here.shared;
  const uint64_t limited = limit(*here.device);
  if (limited == 0) return most;
  return std::min(most,
                  limited + paid_already(placement, *here.device, options_));
}

bool DeviceSplit::fits(const model::Placement& placement, size_t device) const {
  return placement.memory.devices[device].total() <= most(placement, device);
}

model::Placement DeviceSplit::place(const Parts& parts, int64_t pages) const {
  model::ResidentOptions resident = resident_;
  resident.cache.pages = pages;
  return model::place(file_, resident, chain_, devices_, parts);
}

const std::vector<DeviceSplit::Cost>& DeviceSplit::costs(const Parts& parts) {
  if (const auto known = costs_.find(parts); known != costs_.end()) {
    return known->second;
  }
  const model::Placement placement = place(parts, 1);
  std::vector<Cost> costs;
  for (size_t d = 0; d < placement.memory.devices.size(); ++d) {
    const model::DeviceMemory& here = placement.memory.devices[d];
    const uint64_t page = here.cache - here.windows;
    costs.push_back(
        {here.device, here.total() - page, page, most(placement, d)});
  }
  return costs_.emplace(parts, std::move(costs)).first->second;
}

bool DeviceSplit::fits(const Cost& cost, int64_t pages) const {
  if (cost.fixed > cost.most) return false;
  return cost.page == 0 ||
         static_cast<uint64_t>(pages) <= (cost.most - cost.fixed) / cost.page;
}

int64_t DeviceSplit::room(const Parts& parts, int64_t most_pages) {
  for (const Cost& cost : costs(parts)) {
    if (cost.fixed > cost.most) return 0;
    if (cost.page == 0) continue;
    most_pages = static_cast<int64_t>(
        std::min<uint64_t>((cost.most - cost.fixed) / cost.page,
                           static_cast<uint64_t>(most_pages)));
  }
  return most_pages;
}

DeviceSplit::Parts DeviceSplit::fill(int64_t pages) {
  if (!has_next()) return all_on_first_;
  const size_t last = devices_.size() - 1;
  const size_t end = all_on_first_.size() - 1;  // of the layers
  Parts parts(all_on_first_.size(), last);
  size_t next = 1;
  for (size_t d = 0; d < last; ++d) {
    const auto with = [&](size_t count) {
      Parts tried = parts;
      std::fill_n(tried.begin() + static_cast<ptrdiff_t>(next), count, d);
      return tried;
    };
    size_t low = 0;
    size_t high = end - next;
    while (low < high) {
      const size_t middle = (low + high + 1) / 2;
      if (fits(costs(with(middle))[d], pages)) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    parts = with(low);
    next += low;
  }
  return parts;
}

int64_t DeviceSplit::largest_room(int64_t most) {
  int64_t low = room(all_on_first_, most);
  if (!has_next()) return low;
  int64_t high = most;
  while (low < high) {
    const int64_t middle = low + (high - low + 1) / 2;
    if (room(fill(middle), most) >= middle) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace rc::engine
