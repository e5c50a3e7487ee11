#include "engine/fit.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model/weight_name.h"
#include "runcible/plugin.h"

namespace rc::engine {
namespace {

bool is_cpu(const std::string& id) { return id.starts_with("cpu:"); }

class Fit {
 public:
  Fit(const model::ModelFile& file, const runtime::DeviceChain& chain,
      EngineOptions options)
      : file_(file),
        chain_(chain),
        options_(std::move(options)),
        alone_(chain.first(), {}, chain.strict()),
        moves_experts_(options_.experts_on.empty() &&
                       !options_.experts_mapped &&
                       file.hyper_parameters().experts > 0) {
    options_.fit = false;
  }

  Resolved choose() {
    std::optional<Resolved> found = place(options_);
    if (!found && options_.fits_cache_dtype) {
      EngineOptions smaller = options_;
      smaller.cache_dtype = RC_DTYPE_Q8_0;
      found = place(smaller);
    }
    if (!found) found = std::move(longest_);
    return found ? *std::move(found) : resolve(file_, chain_, options_);
  }

 private:
  std::optional<Resolved> place(const EngineOptions& options) {
    if (auto found = attempt(alone_, options)) return found;
    if (!open_others()) return {};
    if (!without_cpu_) return attempt(*all_, options);
    if (!without_cpu_->next().empty()) {
      if (auto found = attempt(*without_cpu_, options)) return found;
    }
    std::optional<Resolved> best = attempt(*all_, options);
    if (!moves_experts_) return best;
    EngineOptions moved = options;
    moved.experts_on = "cpu";
    take_if_faster(with_fewest_experts(moved), best);
    take_if_faster(attempt(*all_, moved), best);
    return best;
  }

  // Opens the rest of the chain, once. False: there is nothing.
  bool open_others() {
    if (devices_.empty()) {
      devices_ = chain_.open();
      std::vector<std::string> next;
      for (size_t i = 1; i < devices_.size(); ++i) {
        next.push_back(devices_[i]->id());
      }
      all_.emplace(chain_.first(), next, chain_.strict());
      if (std::erase_if(next, is_cpu) > 0) {
        without_cpu_.emplace(chain_.first(), next, chain_.strict());
      }
    }
    return devices_.size() > 1;
  }

  // On the chain without the CPU, but for the experts of as few layers as
  // possible.
  std::optional<Resolved> with_fewest_experts(EngineOptions options) {
    const auto with = [&](int64_t layers) {
      options.experts_on_layers = layers;
      return attempt(*without_cpu_, options);
    };
    const auto all = std::ssize(file_.hyper_parameters().layers);
    std::optional<Resolved> found;
    int64_t few = 0;  // which are not enough
    int64_t many = 1;
    while (!(found = with(many)) && many < all) {
      few = many;
      many = std::min<int64_t>(2 * many, all);
    }
    while (found && few + 1 < many) {
      const int64_t middle = few + (many - few) / 2;
      if (auto fewer = with(middle)) {
        many = middle;
        found = std::move(fewer);
      } else {
        few = middle;
      }
    }
    return found;
  }

  void take_if_faster(std::optional<Resolved> other,
                      std::optional<Resolved>& best) const {
    if (other && (!best || read_by_cpu(*other) < read_by_cpu(*best))) {
      best = std::move(other);
    }
  }

  // The bytes of weights that the CPU reads for a token.
  uint64_t read_by_cpu(const Resolved& resolved) const {
    const model::HyperParameters& hyper = file_.hyper_parameters();
    const model::Placement& placement = resolved.placement;
    uint64_t bytes = 0;
    for (size_t d = 0; d < placement.devices.size(); ++d) {
      const runtime::Device& device = *placement.devices[d];
      if (!is_cpu(device.id())) continue;
      for (size_t i = 0; i < placement.split.weights.size(); ++i) {
        runtime::WeightInfo weight = placement.split.weights[i];
        weight.uses = placement.split.devices[d].weight_uses[i];
        if ((weight.uses & (RC_USE_LINEAR | RC_USE_EXPERTS)) == 0) continue;
        uint64_t read = device.weight_bytes(weight);
        // Heads of attention have such a weight as well, read whole.
        if ((weight.uses & RC_USE_EXPERTS) != 0 &&
            !model::rows_of_heads(weight.name)) {
          read = read / static_cast<uint64_t>(hyper.experts) *
                 static_cast<uint64_t>(hyper.experts_used);
        }
        bytes += read;
      }
    }
    return bytes;
  }

  // Nothing, if it does not fit, or only with a shorter context than is enough.
  std::optional<Resolved> attempt(const runtime::DeviceChain& chain,
                                  const EngineOptions& options) {
    std::optional<Resolved> made;
    try {
      made = resolve(file_, chain, options);
    } catch (const Error& error) {
      // Of the options as given the end of choose() throws it.
      if (error.status() == RC_E_OUT_OF_MEMORY) throw;
      return {};
    }
    if (!made->plan.fits) return {};
    if (made->plan.context_length >= enough_context(file_, options)) {
      return made;
    }
    if (!longest_ ||
        longest_->plan.context_length < made->plan.context_length) {
      longest_ = std::move(made);
    }
    return {};
  }

  const model::ModelFile& file_;
  const runtime::DeviceChain& chain_;
  EngineOptions options_;
  const runtime::DeviceChain alone_;  // the first device
  const bool moves_experts_;
  // The open devices of the chain, which no attempt opens again.
  std::vector<std::shared_ptr<runtime::Device>> devices_;
  std::optional<runtime::DeviceChain> all_;
  std::optional<runtime::DeviceChain> without_cpu_;  // if it has one
  std::optional<Resolved> longest_;                  // of those that fit
};

}  // namespace

Resolved fit(const model::ModelFile& file, const runtime::DeviceChain& chain,
             const EngineOptions& options) {
  return Fit(file, chain, options).choose();
}

}  // namespace rc::engine
