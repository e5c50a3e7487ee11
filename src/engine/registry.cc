// Which engines are resident: who loads the same file on the same device with
// the same options gets the same engine.
#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "base/threads.h"
#include "engine/device_split.h"
#include "engine/engine_handle.h"
#include "engine/plan.h"

namespace rc::engine {
namespace {

// The properties that make two loads the same.
struct Key {
  const runtime::Device* device;
  gguf::Source::Identity file;
  // Options as they were given.
  int64_t context_length;
  int64_t cache_tokens;
  DType cache_dtype;
  int64_t max_rows;
  bool prefix_cache;
  bool keep_mapped;
  bool guard_mapped;
  bool experts_mapped;
  int64_t resident_experts;
  const runtime::Device* experts_on;
  int64_t experts_on_layers;
  bool fit;
  bool fits_cache_dtype;
  bool takes_embeddings;
  int64_t timeout_ms;
  model::ForwardOutput output;

  bool operator==(const Key&) const = default;
};

// Nothing for a model that was read from memory. `experts` is the device of
// experts, which has to live until the engine has it.
std::optional<Key> key_of(const model::ModelFile& file,
                          const runtime::DeviceChain& chain,
                          const runtime::Device* experts,
                          const EngineOptions& options) {
  const gguf::Source::Identity* identity = file.file().identity();
  if (identity == nullptr) return std::nullopt;
  return Key{.device = chain.first().get(),
             .file = *identity,
             .context_length = options.context_length,
             .cache_tokens = options.cache_tokens,
             .cache_dtype = options.cache_dtype,
             .max_rows = options.max_rows,
             .prefix_cache = options.prefix_cache,
             .keep_mapped = options.keep_mapped,
             .guard_mapped = options.guard_mapped,
             .experts_mapped = options.experts_mapped,
             .resident_experts = options.resident_experts,
             .experts_on = experts,
             .experts_on_layers = options.experts_on_layers,
             .fit = options.fit,
             .fits_cache_dtype = options.fits_cache_dtype,
             .takes_embeddings = options.takes_embeddings,
             .timeout_ms = options.timeout_ms,
             .output = file.output()};
}

class Registry {
 private:
  struct Entry {
    Key key;
    std::weak_ptr<EngineHandle> engine;
    bool loading;
  };

 public:
  // An engine, or the right to load one.
  struct Claim {
    std::shared_ptr<EngineHandle> engine;
    std::list<Entry>::iterator entry;
  };

  // A resident engine that suits, or the note that the caller loads it. Waits
  // while another thread loads the same.
  Claim find_or_claim(const Key& key,
                      const std::function<bool(const EngineHandle&)>& suits) {
    std::unique_lock lock(mutex_);
    for (;;) {
      bool loading = false;
      for (auto entry = entries_.begin(); entry != entries_.end();) {
        const auto here = entry++;
        if (here->loading) {
          loading |= here->key == key;
        } else if (here->engine.expired()) {
          entries_.erase(here);
        } else if (here->key == key) {
          const auto engine = here->engine.lock();
          if (engine == nullptr || engine->broken()) {
            entries_.erase(here);
          } else if (suits(*engine)) {
            return {engine, here};
          }
        }
      }
      if (!loading) {
        entries_.push_back({key, {}, true});
        return {nullptr, std::prev(entries_.end())};
      }
      if constexpr (!kThreads) {
        fail(
            RC_E_BUSY,
            "the model is being loaded, by a call whose progress callback this "
            "one is made in; without threads it cannot be waited for");
      }
      changed_.wait(lock);
    }
  }

  // A resident engine that suits; nullptr: there is none.
  std::shared_ptr<EngineHandle> find(
      const Key& key, const std::function<bool(const EngineHandle&)>& suits) {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_) {
      if (entry.loading || entry.key != key) continue;
      const auto engine = entry.engine.lock();
      if (engine != nullptr && !engine->broken() && suits(*engine)) {
        return engine;
      }
    }
    return nullptr;
  }

  // The end of loading; nullptr if it failed.
  void settle(const Claim& claim,
              const std::shared_ptr<EngineHandle>& engine) noexcept {
    const std::lock_guard lock(mutex_);
    if (engine == nullptr) {
      entries_.erase(claim.entry);
    } else {
      claim.entry->engine = engine;
      claim.entry->loading = false;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Entry> entries_;
};

// Never destroyed: engines may be loaded and dropped while the process ends.
Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

// "; these would fit: ..."
std::string offers_text(const std::vector<Offer>& offers) {
  std::string text;
  for (const Offer& offer : offers) {
    text += cat(text.empty() ? "; what would fit: " : "; or ", offer.text);
  }
  return text;
}

// A limit that no option changes: a program of 32 bits, such as one in
// WebAssembly, has addresses for this many bytes.
std::string addresses_text(uint64_t bytes) {
  if (bytes <= SIZE_MAX) return {};
  return cat("; no device of this program holds more than ", SIZE_MAX,
             " bytes, for its addresses have 32 bits: take a smaller model, or "
             "one with fewer bits for each weight");
}

uint64_t reserved_bytes(const EngineOptions& options,
                        const runtime::Device& device) {
  return options.reserved == nullptr ? 0 : options.reserved->bytes(device);
}

void check_fits(const model::ModelFile& file, const runtime::DeviceChain& chain,
                const EngineOptions& options, const Plan& plan) {
  for (size_t d = 0; d < plan.memory.devices.size(); ++d) {
    if (plan.device_fits[d]) continue;
    const model::DeviceMemory& here = plan.memory.devices[d];
    fail(RC_E_DEVICE_MEMORY, file.file().name(), " takes ", here.total(),
         " bytes on ", here.device->id(), " (weights ", here.weights,
         here.shared == 0 ? std::string()
                          : cat(", of which ", here.shared, " are there"),
         ", KV cache ", here.cache, ", states ", here.states, ", scratch ",
         here.scratch, "), but only ", plan.device_available[d], " may be used",
         reserved_bytes(options, *here.device) == 0
             ? std::string()
             : cat(" next to the ", reserved_bytes(options, *here.device),
                   " that other models will take"),
         "; ",
         plan.largest_context >= 2
             ? cat("a context_length of ", plan.largest_context, " would fit")
             : std::string("it does not fit with any context_length"),
         offers_text(offers(file, chain, options, plan)),
         addresses_text(here.total()));
  }
}

std::string layers_text(const model::MemoryPlan& memory) {
  std::string text;
  for (const model::DeviceMemory& here : memory.devices) {
    text +=
        cat(text.empty() ? "" : ", ", here.layers, " on ", here.device->id());
  }
  return text;
}

std::shared_ptr<EngineHandle> load_new(
    std::shared_ptr<const model::ModelFile> file,
    const runtime::DeviceChain& chain, const EngineOptions& options,
    const std::function<bool(double)>& progress) {
  Resolved resolved = resolve(*file, chain, options);
  check_fits(*file, chain, options, resolved.plan);
  const int64_t trained = file->hyper_parameters().context_length;
  if (options.context_length == 0 && resolved.plan.context_length < trained) {
    log(RC_LOG_WARNING, file->file().name(), ": of a context of ", trained,
        " tokens only ", resolved.plan.context_length, " fit into the memory");
  }
  if (resolved.options.cache_dtype != options.cache_dtype) {
    log(RC_LOG_WARNING, file->file().name(), " fits with a KV cache of ",
        dtype_name(resolved.options.cache_dtype), " in place of ",
        dtype_name(options.cache_dtype));
  }
  for (const auto& here : resolved.plan.memory.devices) {
    if (here.expert_layers == 0 || !options.experts_on.empty()) continue;
    log(RC_LOG_WARNING, file->file().name(), " fits with experts on ",
        here.device->id(), ", those of ", here.expert_layers, " of its layers");
  }
  if (!resolved.plan.memory.devices.front().output) {
    log(RC_LOG_WARNING, file->file().name(), " does not fit on ",
        chain.first()->id(), "; layers: ", layers_text(resolved.plan.memory));
  }
  for (const runtime::Fallback& fallback : resolved.placement.fallbacks) {
    log(RC_LOG_WARNING, fallback.op, " runs on ", fallback.device, ": ",
        fallback.lacking, " does not support it (", fallback.reason, ")");
  }
  return std::make_shared<EngineHandle>(
      model::ResidentModel::load(std::move(file), std::move(resolved.placement),
                                 resolved.resident, progress),
      resolved.options, chain);
}

// Whether an engine that others have loaded is what this caller would have.
bool suits(const EngineHandle& engine, const runtime::DeviceChain& chain,
           const EngineOptions& options,
           const std::function<bool(const Engine&)>& held) {
  if (chain.strict() && !engine.fallbacks().empty()) return false;
  if (held && held(engine)) return true;
  const uint64_t limit = options.memory_limit;
  // Another limit or chain would have spread it in another way.
  if (engine.spread() && (limit != engine.options().memory_limit ||
                          chain.next() != engine.chain().next())) {
    return false;
  }
  return limit == 0 || engine.memory().devices.front().total() <= limit;
}

}  // namespace

void Engine::reserve(const model::ModelFile& file,
                     const runtime::DeviceChain& chain, EngineOptions options,
                     const std::function<bool(const Engine&)>& held,
                     model::ReservedMemory& reserved) {
  options.reserved = &reserved;
  const auto experts = experts_device(chain, options);
  if (const auto key = key_of(file, chain, experts.get(), options)) {
    // The rest of the limit next to reserved memory.
    EngineOptions left = options;
    if (left.memory_limit != 0) {
      left.memory_limit = left.memory_limit > reserved.limited()
                              ? left.memory_limit - reserved.limited()
                              : 1;
    }
    const auto resident =
        registry().find(*key, [&](const EngineHandle& engine) {
          return suits(engine, chain, left, held);
        });
    if (resident != nullptr) {
      const bool paid = held && held(*resident);
      const auto& here = resident->memory().devices.front();
      reserved.add_resident(paid ? 0 : here.total());
      return;
    }
  }
  const Resolved resolved = resolve(file, chain, options);
  check_fits(file, chain, options, resolved.plan);
  const auto& here = resolved.plan.memory.devices.front();
  reserved.add(
      file, resolved.placement, resolved.resident,
      here.total() - paid_already(resolved.placement, *here.device, options));
}

std::shared_ptr<Engine> Engine::load(
    std::shared_ptr<const model::ModelFile> file,
    const runtime::DeviceChain& chain, const EngineOptions& options,
    const std::function<bool(double)>& progress,
    const std::function<bool(const Engine&)>& held) {
  warn_beyond_training(*file, options.context_length);
  // Devices are allowed by this chain alone, whatever others have loaded.
  const auto experts = experts_device(chain, options);
  const std::optional<Key> key = key_of(*file, chain, experts.get(), options);
  if (!key) {
    return load_new(std::move(file), chain, options, progress);
  }
  const auto claim =
      registry().find_or_claim(*key, [&](const EngineHandle& engine) {
        return suits(engine, chain, options, held);
      });
  if (claim.engine != nullptr) {
    if (progress && !progress(1.0)) {
      fail(RC_E_CANCELLED, file->file().name(), ": loading was cancelled");
    }
    return claim.engine;
  }
  try {
    auto engine = load_new(std::move(file), chain, options, progress);
    registry().settle(claim, engine);
    return engine;
  } catch (...) {
    registry().settle(claim, nullptr);
    throw;
  }
}

}  // namespace rc::engine
