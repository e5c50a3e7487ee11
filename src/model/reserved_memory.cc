#include "model/reserved_memory.h"

namespace rc::model {

void ReservedMemory::add(const ModelFile& file, const Placement& placement,
                         const ResidentOptions& options, uint64_t limited) {
  limited_ += limited;
  const runtime::Split& split = placement.split;
  for (size_t d = 0; d < placement.devices.size(); ++d) {
    const runtime::Device& device = *placement.devices[d];
    devices_.push_back(placement.devices[d]);
    bytes_[&device] += placement.memory.devices[d].added();
    const auto set = WeightSet::of(file, device);
    if (set == nullptr) continue;
    sets_.push_back(set);
    for (size_t i = 0; i < split.weights.size(); ++i) {
      runtime::WeightInfo weight = split.weights[i];
      weight.uses = split.devices[d].weight_uses[i];
      if (weight.uses == 0 || stays_mapped(file, weight, options)) continue;
      weights_.emplace(set.get(), weight.name, weight.uses);
    }
  }
}

uint64_t ReservedMemory::bytes(const runtime::Device& device) const {
  const auto known = bytes_.find(&device);
  return known == bytes_.end() ? 0 : known->second;
}

bool ReservedMemory::has(const WeightSet& set,
                         const runtime::WeightInfo& weight) const {
  return weights_.contains({&set, weight.name, weight.uses});
}

}  // namespace rc::model
