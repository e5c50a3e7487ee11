#include "engine/plan.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "engine/device_split.h"
#include "engine/fit.h"
#include "engine/window_keeper.h"

namespace rc::engine {
namespace {

constexpr int64_t kDefaultRows = 512;
constexpr int64_t kMaxRows = 65536;
constexpr int64_t kMaxOutputs = 64;
constexpr int64_t kMaxSequences = 64;
constexpr int64_t kMaxTexts = 256;  // of a step that makes embeddings
// Positions and page numbers are 32-bit; nothing near this fits anywhere.
constexpr int64_t kMaxTokens = int64_t{1} << 30;
constexpr uint64_t kDefaultCacheBytes = uint64_t{256} << 20;
constexpr int64_t kDefaultCacheContexts = 64;
// Of a model that has states in slots.
constexpr uint64_t kStateBytes = uint64_t{512} << 20;
constexpr int64_t kLeastSlots = 4;
// Of a model that has layers with a window.
constexpr int64_t kWindowJobs = 16;
// See enough_context().
constexpr int64_t kSpreadContext = 4096;

void check_range(const char* name, int64_t value, int64_t most) {
  if (value < 0 || value > most) {
    fail(RC_E_INVALID_ARGUMENT, name, " is ", value, "; it must be 0 to ",
         most);
  }
}

int64_t trained_context(const model::ModelFile& file) {
  return std::clamp<int64_t>(file.hyper_parameters().context_length, 2,
                             kMaxTokens);
}

int64_t round_up(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Pages of windows for kWindowJobs jobs of any length; 0: no layer has one.
int64_t window_pages(const model::ModelFile& file,
                     const model::ResidentOptions& resident) {
  const int64_t window = model::widest_window(file.hyper_parameters());
  if (window == 0 || !file.causal()) return 0;
  const WindowSize size{window, resident.cache.page_size};
  return kWindowJobs * size.most_pages(kMaxTokens) +
         size.pages_of_step(resident.limits.max_rows);
}

// Throws RC_E_UNSUPPORTED where more is made of a token than its row, or no
// session reads the model.
void check_can_take_embeddings(const model::ModelFile& file) {
  const char* const reason =
      file.output() != model::ForwardOutput::kLogits
          ? "it gives no logits, and has no sessions"
      : file.source() != nullptr ? "it reads a source, of tokens"
      : file.hyper_parameters().per_layer.size > 0
          ? "each of its layers has another table of tokens"
          : nullptr;
  if (reason == nullptr) return;
  fail(RC_E_UNSUPPORTED, file.file().name(),
       ": the model takes no embedding rows in place of tokens: ", reason,
       "; load it without takes_embeddings");
}

void check_has_experts(const model::ModelFile& file, const char* could,
                       const char* option) {
  if (file.hyper_parameters().experts > 0) return;
  fail(RC_E_UNSUPPORTED, file.file().name(),
       ": the model has no experts that could ", could, "; load it without ",
       option);
}

}  // namespace

int64_t enough_context(const model::ModelFile& file,
                       const EngineOptions& options) {
  if (options.context_length != 0) return options.context_length;
  const int64_t enough = std::min(trained_context(file), kSpreadContext);
  return options.cache_tokens == 0
             ? enough
             : std::clamp<int64_t>(options.cache_tokens, 2, enough);
}

std::shared_ptr<runtime::Device> experts_device(
    const runtime::DeviceChain& chain, const EngineOptions& options) {
  if (options.experts_on.empty()) return nullptr;
  return chain.open_one(options.experts_on, "experts_on");
}

Resolved resolve(const model::ModelFile& file,
                 const runtime::DeviceChain& chain,
                 const EngineOptions& options) {
  if (options.fit) return fit(file, chain, options);
  check_range("context_length", options.context_length, kMaxTokens);
  check_range("cache_tokens", options.cache_tokens, kMaxTokens);
  check_range("max_rows", options.max_rows, kMaxRows);
  check_range("timeout_ms", options.timeout_ms, INT64_MAX);
  check_range("experts_on_layers", options.experts_on_layers, INT64_MAX);
  if (options.context_length == 1) {
    fail(RC_E_INVALID_ARGUMENT,
         "context_length is 1; a token to begin with and one to generate need "
         "2");
  }
  const int64_t chosen = file.hyper_parameters().chosen_positions;
  if (chosen > 0 && options.context_length > chosen) {
    fail(RC_E_UNSUPPORTED, file.file().name(), ": context_length is ",
         options.context_length, ", but the model has an indexer that chooses ",
         chosen,
         " positions of longer sequences, which is not computed; take at most ",
         chosen);
  }
  if (options.cache_dtype != RC_DTYPE_F16 &&
      options.cache_dtype != RC_DTYPE_F32 &&
      options.cache_dtype != RC_DTYPE_Q8_0) {
    fail(RC_E_INVALID_ARGUMENT, "cache_dtype is ",
         dtype_name(options.cache_dtype), "; it must be F16, F32 or Q8_0");
  }

  Resolved result;
  result.options = options;
  result.options.has_weight = nullptr;  // of no use later
  result.options.reserved = nullptr;
  if (options.max_rows == 0) result.options.max_rows = kDefaultRows;
  const bool has_source = file.source() != nullptr;
  if (!file.causal() || has_source) {
    // A text, or a source, whose rows see each other is in one step.
    const int64_t longest = options.context_length != 0
                                ? options.context_length
                                : file.hyper_parameters().context_length;
    result.options.max_rows =
        std::clamp(longest, result.options.max_rows,
                   std::max(result.options.max_rows, kMaxRows));
  }
  const int64_t rows = result.options.max_rows;
  model::ResidentOptions& resident = result.resident;
  resident.limits.max_rows = rows;
  const bool generates = file.output() == model::ForwardOutput::kLogits;
  resident.limits.max_outputs = generates && !options.observes_products
                                    ? std::min(rows, kMaxOutputs)
                                    : rows;
  resident.limits.max_sequences =
      std::min(rows, generates ? kMaxSequences : kMaxTexts);
  resident.keep_mapped = options.keep_mapped;
  resident.guard_mapped = options.guard_mapped;
  if (!options.experts_on.empty()) {
    check_has_experts(file, "lie elsewhere", "experts_on");
    resident.experts_on = experts_device(chain, options);
    resident.experts_on_layers = options.experts_on_layers;
  }
  if (options.experts_mapped) {
    check_has_experts(file, "stay mapped", "experts_mapped");
    const model::HyperParameters& hyper = file.hyper_parameters();
    const int64_t asked = options.resident_experts;
    resident.resident_experts =
        std::min(asked != 0 ? asked : 2 * hyper.experts_used, hyper.experts);
    resident.experts_mapped = true;
  }
  if (options.takes_embeddings) check_can_take_embeddings(file);
  resident.takes_embeddings = options.takes_embeddings;
  resident.observes_products = options.observes_products;
  resident.reserved = options.reserved;
  model::CacheLayout& cache = resident.cache;
  cache.dtype = result.plan.cache_dtype = options.cache_dtype;
  cache.pages_per_sequence = 1;  // no bytes depend on it
  if (const uint64_t slot = file.slot_bytes(); slot > 0) {
    // A step reads one slot and writes another for each of its sequences.
    int64_t& sequences = resident.limits.max_sequences;
    cache.slots = std::clamp(static_cast<int64_t>(kStateBytes / slot),
                             kLeastSlots, 4 * sequences);
    sequences = std::min(sequences, cache.slots / 2);
  }

  const int64_t page = cache.page_size;
  const int64_t trained = trained_context(file);
  // Windows have separate pages if these are fewer than the pages of a cache.
  cache.window_pages = window_pages(file, resident);
  const int64_t least = options.cache_tokens != 0     ? options.cache_tokens
                        : options.context_length != 0 ? options.context_length
                                                      : trained;
  if (least <= cache.window_pages * page || options.observes_products) {
    cache.window_pages = 0;
  }

  DeviceSplit spread(file, chain, resident, options);
  Plan& plan = result.plan;
  plan.available = spread.available(*chain.first());

  // Only the ops that the first device does not support are on other devices.
  DeviceSplit::Parts parts = spread.all_on_first();
  // The tokens behind a source begin with a page.
  const int64_t more = has_source ? page : 0;
  const auto room_of = [&](int64_t pages) {
    return std::max<int64_t>(pages * page - more, 0);
  };
  int64_t room = room_of(spread.room(parts, kMaxTokens / page));
  if (cache.window_pages > 0 && room <= cache.window_pages * page) {
    cache.window_pages = 0;
    spread.forget();
    room = room_of(spread.room(parts, kMaxTokens / page));
  }
  const uint64_t page_bytes = std::max<uint64_t>(
      file.page_bytes(cache, model::LayerState::Kind::kPages), 1);
  int64_t context = options.context_length;
  const int64_t enough = options.cache_tokens != 0
                             ? options.cache_tokens
                             : enough_context(file, options);
  const bool spreads = room < round_up(enough, page) && spread.has_next();
  if (spreads) {
    parts = spread.fill((round_up(enough, page) + more) / page);
    room = room_of(spread.room(parts, kMaxTokens / page));
    const int64_t most = std::max(trained, context);
    plan.largest_context = std::min(
        room_of(spread.largest_room((round_up(most, page) + more) / page)),
        most);
    if (context == 0) context = std::max<int64_t>(std::min(trained, enough), 2);
  } else {
    plan.largest_context = std::min(room, std::max(trained, context));
  }

  if (context == 0) {
    context = plan.largest_context >= 2 ? std::min(trained, room) : trained;
    if (options.cache_tokens != 0) {
      context = std::max<int64_t>(std::min(context, options.cache_tokens), 2);
    }
  }
  int64_t tokens = options.cache_tokens;
  if (tokens == 0 && spreads) tokens = context;
  if (tokens == 0) {
    const auto usual = static_cast<int64_t>(std::min<uint64_t>(
                           kDefaultCacheBytes / page_bytes,
                           static_cast<uint64_t>(kMaxTokens / page))) *
                       page;
    tokens = std::min({usual, context * kDefaultCacheContexts, room});
    tokens = std::max(tokens, context);
  }
  tokens = round_up(tokens, page) + (options.cache_tokens == 0 ? more : 0);
  result.options.context_length = plan.context_length = context;
  result.options.cache_tokens = plan.cache_tokens = tokens;
  cache.pages = tokens / page;
  if (cache.pages <= cache.window_pages) cache.window_pages = 0;
  cache.pages_per_sequence = (round_up(context, page) + more) / page;
  result.placement = spread.place(parts, cache.pages);
  plan.memory = result.placement.memory;
  for (size_t d = 0; d < plan.memory.devices.size(); ++d) {
    plan.device_available.push_back(
        spread.available(*plan.memory.devices[d].device));
    plan.device_fits.push_back(spread.fits(result.placement, d));
    plan.fits = plan.fits && plan.device_fits.back();
  }
  return result;
}

void warn_beyond_training(const model::ModelFile& file, int64_t context) {
  const int64_t trained = file.hyper_parameters().context_length;
  if (context <= trained) return;
  log(RC_LOG_WARNING, file.file().name(), ": a context of ", context,
      " tokens is asked for, but the model was trained for ", trained,
      "; what it says beyond that is likely to be nonsense");
}

Plan plan(const model::ModelFile& file, const runtime::DeviceChain& chain,
          const EngineOptions& options) {
  warn_beyond_training(file, options.context_length);
  return resolve(file, chain, options).plan;
}

}  // namespace rc::engine
