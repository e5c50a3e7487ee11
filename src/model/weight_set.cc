#include "model/weight_set.h"

#include <map>

namespace rc::model {
namespace {

struct Sets {
  std::mutex mutex;
  std::map<WeightSet::Place, std::weak_ptr<WeightSet>> by_place;
};

// Never destroyed: models may be loaded and dropped while the process ends.
Sets& sets() {
  static Sets& instance = *new Sets;
  return instance;
}

}  // namespace

std::shared_ptr<WeightSet> WeightSet::of(const ModelFile& file,
                                         const runtime::Device& device) {
  const gguf::Source::Identity* identity = file.file().identity();
  if (identity == nullptr) return nullptr;
  // Goes when the lock has gone, if it is not needed.
  const auto made = std::make_shared<WeightSet>(Place{*identity, &device});
  const std::lock_guard lock(sets().mutex);
  std::weak_ptr<WeightSet>& set = sets().by_place[made->place_];
  if (std::shared_ptr<WeightSet> found = set.lock()) return found;
  set = made;
  return made;
}

WeightSet::~WeightSet() {
  const std::lock_guard lock(sets().mutex);
  const auto entry = sets().by_place.find(place_);
  // It may be another's by now.
  if (entry != sets().by_place.end() && entry->second.expired()) {
    sets().by_place.erase(entry);
  }
}

std::shared_ptr<runtime::Weight> WeightSet::find(
    const runtime::WeightInfo& info) {
  const std::lock_guard lock(mutex_);
  const auto known = weights_.find({info.name, info.uses});
  return known == weights_.end() ? nullptr : known->second.lock();
}

std::shared_ptr<runtime::Weight> WeightSet::find_or_make(
    const runtime::WeightInfo& info,
    const std::function<std::shared_ptr<runtime::Weight>()>& make) {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<runtime::Weight>& known = weights_[{info.name, info.uses}];
  std::shared_ptr<runtime::Weight> weight = known.lock();
  if (weight == nullptr) known = weight = make();
  return weight;
}

}  // namespace rc::model
