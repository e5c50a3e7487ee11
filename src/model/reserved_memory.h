// Memory reserved for models that are about to be loaded together, so that each
// can be planned next to those before it while none is there yet.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "model/placement.h"
#include "model/weight_set.h"

namespace rc::model {

class ReservedMemory {
 public:
  // Reserves the memory of the placement of a file, which was made next to
  // this. `limited` are its bytes of the limit of the handle that
  // loads it.
  void add(const ModelFile& file, const Placement& placement,
           const ResidentOptions& options, uint64_t limited);
  // Counts a model that is there already.
  void add_resident(uint64_t limited) { limited_ += limited; }

  // Of a device's free memory.
  uint64_t bytes(const runtime::Device& device) const;
  // Of the limit of who loads them.
  uint64_t limited() const { return limited_; }
  // Whether one of the models has the weight there.
  bool has(const WeightSet& set, const runtime::WeightInfo& weight) const;

 private:
  // The set, name and uses of a weight.
  using Key = std::tuple<const WeightSet*, std::string, uint32_t>;

  std::map<const runtime::Device*, uint64_t> bytes_;
  uint64_t limited_ = 0;
  std::set<Key> weights_;
  // Weight sets without a model so far, which would be others if they were
  // destroyed.
  std::vector<std::shared_ptr<const WeightSet>> sets_;
  std::vector<std::shared_ptr<runtime::Device>> devices_;
};

}  // namespace rc::model
