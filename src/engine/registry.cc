// Which engines are resident: who loads the same file on the same device with
// the same options gets the same engine.
#include <sys/stat.h>

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>

#include "base/error.h"
#include "base/log.h"
#include "engine/engine_handle.h"
#include "engine/plan.h"

namespace rc::engine {
namespace {

// What makes two loads the same.
struct Key {
  const runtime::Device* device;
  // The file: device, inode, size, seconds and nanoseconds of its last change.
  dev_t file_system;
  ino_t inode;
  uint64_t size;
  int64_t seconds;
  int64_t nanoseconds;
  uint64_t fingerprint;
  // Options as they were given.
  int64_t context_length;
  int64_t cache_tokens;
  DType cache_dtype;
  int64_t max_rows;
  bool prefix_cache;
  int64_t timeout_ms;

  bool operator==(const Key&) const = default;
};

// False for a model that was not read from a file, or whose file was replaced.
bool make_key(const model::ModelFile& file, const runtime::Device& device,
              const EngineOptions& options, Key* key) {
  struct stat status = {};
  if (stat(file.file().name().c_str(), &status) != 0 ||
      !S_ISREG(status.st_mode) ||
      static_cast<uint64_t>(status.st_size) != file.file().size()) {
    return false;
  }
  *key = {&device,
          status.st_dev,
          status.st_ino,
          file.file().size(),
          status.st_mtim.tv_sec,
          status.st_mtim.tv_nsec,
          file.fingerprint(),
          options.context_length,
          options.cache_tokens,
          options.cache_dtype,
          options.max_rows,
          options.prefix_cache,
          options.timeout_ms};
  return true;
}

class Registry {
 public:
  // The resident engine, or nullptr after having noted that the caller loads
  // it. Waits while somebody else loads the same.
  std::shared_ptr<EngineHandle> find_or_claim(const Key& key) {
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto entry = std::find_if(
          entries_.begin(), entries_.end(),
          [&](const Entry& candidate) { return candidate.key == key; });
      if (entry == entries_.end()) {
        std::erase_if(entries_, [](const Entry& candidate) {
          return !candidate.loading && candidate.engine.expired();
        });
        entries_.push_back({key, {}, true});
        return nullptr;
      }
      if (entry->loading) {
        changed_.wait(lock);
        continue;
      }
      if (auto engine = entry->engine.lock(); engine && !engine->broken()) {
        return engine;
      }
      entries_.erase(entry);
    }
  }

  // The end of loading; nullptr if it failed.
  void settle(const Key& key,
              const std::shared_ptr<EngineHandle>& engine) noexcept {
    const std::lock_guard lock(mutex_);
    const auto entry = std::find_if(
        entries_.begin(), entries_.end(),
        [&](const Entry& candidate) { return candidate.key == key; });
    if (engine == nullptr) {
      entries_.erase(entry);
    } else {
      entry->engine = engine;
      entry->loading = false;
    }
    changed_.notify_all();
  }

 private:
  struct Entry {
    Key key;
    std::weak_ptr<EngineHandle> engine;
    bool loading;
  };
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Entry> entries_;
};

// Never destroyed: engines may be loaded and dropped while the process ends.
Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

void check_limit(const model::ModelFile& file, const runtime::Device& device,
                 const model::MemoryPlan& memory, uint64_t available,
                 int64_t largest_context) {
  if (available == 0 || memory.total() <= available) return;
  fail(RC_E_DEVICE_MEMORY, file.file().name(), " takes ", memory.total(),
       " bytes on ", device.id(), " (weights ", memory.weights, ", KV cache ",
       memory.cache, ", scratch ", memory.scratch, "), but only ", available,
       " may be used; ",
       largest_context >= 2
           ? cat("a context_length of ", largest_context, " would fit")
           : std::string("it does not fit with any context_length"));
}

std::shared_ptr<EngineHandle> load_new(
    std::shared_ptr<const model::ModelFile> file,
    std::shared_ptr<runtime::Device> device, const EngineOptions& options,
    const std::function<bool(double)>& progress) {
  const Resolved resolved = resolve(*file, *device, options);
  check_limit(*file, *device, resolved.plan.memory, resolved.plan.available,
              resolved.plan.largest_context);
  const int64_t trained = file->hyper_parameters().context_length;
  if (options.context_length == 0 && resolved.plan.context_length < trained) {
    log(RC_LOG_WARNING, file->file().name(), ": of a context of ", trained,
        " tokens only ", resolved.plan.context_length, " fit into the memory");
  }
  return std::make_shared<EngineHandle>(
      model::ResidentModel::load(std::move(file), std::move(device),
                                 resolved.resident, progress),
      resolved.options);
}

}  // namespace

std::shared_ptr<Engine> Engine::load(
    std::shared_ptr<const model::ModelFile> file,
    std::shared_ptr<runtime::Device> device, const EngineOptions& options,
    const std::function<bool(double)>& progress) {
  Key key;
  if (!make_key(*file, *device, options, &key)) {
    return load_new(std::move(file), std::move(device), options, progress);
  }
  if (auto engine = registry().find_or_claim(key)) {
    if (options.memory_limit != 0) {
      check_limit(*file, *device, engine->memory(), options.memory_limit, 0);
    }
    if (progress && !progress(1.0)) {
      fail(RC_E_CANCELLED, file->file().name(), ": loading was cancelled");
    }
    return engine;
  }
  try {
    auto engine =
        load_new(std::move(file), std::move(device), options, progress);
    registry().settle(key, engine);
    return engine;
  } catch (...) {
    registry().settle(key, nullptr);
    throw;
  }
}

}  // namespace rc::engine
