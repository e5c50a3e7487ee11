// Options with which a model would fit where it does not.
#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "engine/plan.h"
#include "files/quantize/mixes.h"
#include "runtime/device_order.h"
#include "tensor/dtype.h"

namespace rc::engine {
namespace {

// The context that a model which does not fit with any is quantized for.
constexpr int64_t kQuantizedContext = 4096;

// The bytes of a placement that stay in the mapped file.
uint64_t mapped_bytes(const model::ModelFile& file, const Resolved& resolved) {
  uint64_t bytes = 0;
  for (const runtime::WeightInfo& weight : resolved.placement.split.weights) {
    if (model::stays_mapped(file, weight, resolved.resident)) {
      bytes += file.weight_tensor(weight.name).bytes;
    }
  }
  return bytes;
}

// Returns the placement with other options, if it fits then; if the requested
// context does not fit, with as large a one as fits.
std::optional<Resolved> fitting(const model::ModelFile& file,
                                const runtime::DeviceChain& chain,
                                EngineOptions options) {
  try {
    Resolved resolved = resolve(file, chain, options);
    if (resolved.plan.fits) return resolved;
    if (options.context_length == 0 && options.cache_tokens == 0) return {};
    options.context_length = options.cache_tokens = 0;
    resolved = resolve(file, chain, options);
    if (resolved.plan.fits) return resolved;
  } catch (const Error& error) {
    // Not of this model, or this device: RC_E_UNSUPPORTED.
    if (error.status() == RC_E_OUT_OF_MEMORY) throw;
  }
  return {};
}

class Offers {
 public:
  Offers(const model::ModelFile& file, const runtime::DeviceChain& chain,
         const EngineOptions& options, const Plan& plan)
      : file_(file), chain_(chain), options_(options), plan_(plan) {}

  std::vector<Offer> take() {
    context();
    cache_types();
    devices();
    experts_on();
    experts_mapped();
    quantize();
    keep_mapped();
    return std::move(offers_);
  }

 private:
  void add(std::string_view option, std::string value, std::string_view what,
           uint64_t total, uint64_t mapped, int64_t context) {
    Offer offer;
    offer.option = option;
    offer.value = std::move(value);
    offer.text =
        cat(what, ": ", total, " bytes, for a context of ", context, " tokens");
    if (mapped > 0) {
      offer.text += cat("; ", mapped, " bytes stay in the mapped file");
    }
    offer.total = total;
    offer.mapped = mapped;
    offer.context_length = context;
    offers_.push_back(std::move(offer));
  }

  void try_options(std::string_view option, const std::string& value,
                   std::string_view what, const runtime::DeviceChain& chain,
                   const EngineOptions& options) {
    const auto resolved = fitting(file_, chain, options);
    if (!resolved) return;
    add(option, value, what, resolved->plan.memory.added(),
        mapped_bytes(file_, *resolved), resolved->plan.context_length);
  }

  void context() {
    if (plan_.largest_context < 2) return;
    EngineOptions options = options_;
    options.context_length = plan_.largest_context;
    options.cache_tokens = plan_.largest_context;
    const std::string value = std::to_string(plan_.largest_context);
    try_options("context_length", value, cat("context_length ", value), chain_,
                options);
  }

  void cache_types() {
    for (const DType type : {RC_DTYPE_F16, RC_DTYPE_Q8_0}) {
      if (type == options_.cache_dtype ||
          options_.cache_dtype == RC_DTYPE_Q8_0) {
        continue;
      }
      EngineOptions options = options_;
      options.cache_dtype = type;
      const auto resolved = fitting(file_, chain_, options);
      // With a shorter context it is no more than that.
      if (!resolved ||
          (options.context_length != 0 &&
           resolved->plan.context_length < options.context_length)) {
        continue;
      }
      add("cache_dtype", dtype_name(type),
          cat("cache_dtype ", dtype_name(type)), resolved->plan.memory.added(),
          mapped_bytes(file_, *resolved), resolved->plan.context_length);
      return;
    }
  }

  // Layers on devices that the chain does not name, of backends that the
  // process has already (for a driver may do harm): those with most free memory
  // first, and the CPU last.
  void devices() {
    std::vector<std::string> known = chain_.next();
    known.push_back(chain_.first()->id());
    std::vector<std::pair<uint64_t, std::string>> others;
    bool cpu = false;
    for (const auto* plugin : runtime::PluginList::instance().entries()) {
      if (std::ranges::find(known, plugin->name) != known.end()) continue;
      for (const auto& device : runtime::reported_devices(*plugin).devices) {
        const std::string id = device.id();
        if (!device.reason.empty() ||
            std::ranges::find(known, id) != known.end()) {
          continue;
        }
        if (plugin->name == "cpu") {
          cpu = true;
        } else if (device.info.kind != RC_DEVICE_CPU &&
                   device.info.kind != RC_DEVICE_SOFTWARE &&
                   device.info.free_memory > 0) {
          others.emplace_back(device.info.free_memory, id);
        }
      }
    }
    if (others.empty() && !cpu) return;
    std::ranges::sort(others, std::ranges::greater());
    std::vector<std::string> next = chain_.next();
    // The CPU has to stay the last of a chain.
    const bool ends_with_cpu = !next.empty() && next.back().starts_with("cpu");
    for (const auto& [free, id] : others) {
      next.insert(next.end() - (ends_with_cpu ? 1 : 0), id);
    }
    if (cpu) next.emplace_back("cpu:0");
    std::string value = chain_.first()->id();
    for (const std::string& spec : next) value += "," + spec;
    try_options("backend", value, "layers on " + value,
                {chain_.first(), next, chain_.strict()}, options_);
  }

  void experts_on() {
    if (!options_.experts_on.empty() || options_.keep_mapped ||
        file_.hyper_parameters().experts == 0 ||
        chain_.first()->id().starts_with("cpu:")) {
      return;
    }
    EngineOptions options = options_;
    options.experts_on = "cpu";
    try_options("experts_on", "cpu", "experts_on cpu", chain_, options);
  }

  void experts_mapped() {
    if (options_.keep_mapped || options_.experts_mapped ||
        file_.hyper_parameters().experts == 0) {
      return;
    }
    EngineOptions options = options_;
    options.experts_mapped = true;
    try_options("experts_mapped", "1", "experts_mapped", chain_, options);
  }

  void keep_mapped() {
    if (options_.keep_mapped) return;
    EngineOptions options = options_;
    options.keep_mapped = true;
    try_options("keep_mapped", "1", "keep_mapped", chain_, options);
  }

  // The largest type that fits on the first device. What is read of a file of
  // that type is as its weights will be.
  void quantize() {
    if (plan_.available == 0 || options_.keep_mapped ||
        options_.experts_mapped) {
      return;
    }
    EngineOptions options = options_;
    if (options.context_length == 0) {
      options.context_length = std::clamp<int64_t>(
          file_.hyper_parameters().context_length, 2, kQuantizedContext);
    }
    if (options.cache_tokens == 0) {
      options.cache_tokens = options.context_length;
    }
    const runtime::DeviceChain alone(chain_.first(), {}, chain_.strict());
    const Resolved resolved = resolve(file_, alone, options);
    const model::DeviceMemory& here = resolved.plan.memory.devices.front();
    uint64_t best = 0;
    std::string name;
    for (size_t i = 0; quantize::mix_name(i) != nullptr; ++i) {
      const auto weights = quantized_bytes(quantize::mix_name(i), resolved);
      if (!weights || *weights >= here.weights) continue;
      const uint64_t total = here.total() - here.weights + *weights;
      if (total <= plan_.available && total > best) {
        best = total;
        name = quantize::mix_name(i);
      }
    }
    if (best == 0) return;
    add("quantize", name, cat("quantized to ", name), best, 0,
        resolved.plan.context_length);
  }

  // Of all weights on the first device; nothing if the device has no such type.
  std::optional<uint64_t> quantized_bytes(const char* mix,
                                          const Resolved& resolved) const {
    const auto& tensors = file_.file().tensors();
    const std::vector<DType> planned = quantize::planned_types(
        file_.file(), quantize::find_mix(mix), true, false);
    std::map<std::string_view, DType> types;
    for (size_t i = 0; i < tensors.size(); ++i) {
      types.emplace(tensors[i].name, planned[i]);
    }
    const runtime::Split& split = resolved.placement.split;
    const runtime::Split::Share& share = split.devices.front();
    uint64_t total = 0;
    try {
      for (size_t i = 0; i < split.weights.size(); ++i) {
        if (share.weight_uses[i] == 0) continue;
        runtime::WeightInfo weight = split.weights[i];
        weight.uses = share.weight_uses[i];
        if (!file_.is_made(weight.name)) {
          const gguf::Tensor tensor = file_.weight_tensor(weight.name);
          const auto type = types.find(tensor.name);
          if (type != types.end() && tensor.dtype == weight.dtype) {
            weight.dtype = type->second;
          }
        }
        total += chain_.first()->weight_bytes(weight);
      }
    } catch (const Error& error) {
      if (error.status() == RC_E_OUT_OF_MEMORY) throw;
      return {};
    }
    return total;
  }

  const model::ModelFile& file_;
  const runtime::DeviceChain& chain_;
  const EngineOptions& options_;
  const Plan& plan_;
  std::vector<Offer> offers_;
};

}  // namespace

std::vector<Offer> offers(const model::ModelFile& file,
                          const runtime::DeviceChain& chain,
                          const EngineOptions& options, const Plan& plan) {
  if (plan.fits) return {};
  return Offers(file, chain, options, plan).take();
}

}  // namespace rc::engine
