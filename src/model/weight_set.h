// The weights of one file on one device. Models that are resident there share
// them, whatever else they differ in: context length, cache type, rows of a
// step, time limit, tenant.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "model/model_file.h"
#include "runtime/device.h"

namespace rc::model {

class WeightSet {
 public:
  // The file, and where its weights are.
  using Place = std::pair<gguf::Source::Identity, const runtime::Device*>;

  // The set that all who load the file on the device get; nullptr for a file
  // that was read from memory.
  static std::shared_ptr<WeightSet> of(const ModelFile& file,
                                       const runtime::Device& device);
  explicit WeightSet(Place place) : place_(std::move(place)) {}
  ~WeightSet();
  WeightSet(const WeightSet&) = delete;
  WeightSet& operator=(const WeightSet&) = delete;

  // nullptr: no model has it there.
  std::shared_ptr<runtime::Weight> find(const runtime::WeightInfo& info);

  // The weight; made by `make` unless it is there. Other threads that need a
  // weight of the set meanwhile wait, so that none is made twice.
  std::shared_ptr<runtime::Weight> find_or_make(
      const runtime::WeightInfo& info,
      const std::function<std::shared_ptr<runtime::Weight>()>& make);

 private:
  // Name and uses: the file says the rest.
  using Key = std::pair<std::string, uint32_t>;

  const Place place_;
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<runtime::Weight>> weights_;
};

}  // namespace rc::model
