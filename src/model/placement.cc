#include "model/placement.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "model/expert_ops.h"
#include "model/layer_state.h"
#include "model/reserved_memory.h"
#include "model/weight_name.h"
#include "model/weight_set.h"
#include "tensor/dtype.h"

namespace rc::model {
namespace {

void check_cache(const ModelFile& file, const CacheLayout& layout) {
  const auto bytes_of = [&](LayerState::Kind kind) {
    return checked_mul(file.page_bytes(layout, kind),
                       static_cast<uint64_t>(count_of(kind, layout)));
  };
  const std::optional<uint64_t> cache = bytes_of(LayerState::Kind::kPages);
  const std::optional<uint64_t> windows = bytes_of(LayerState::Kind::kWindow);
  const std::optional<uint64_t> states =
      checked_mul(file.slot_bytes(), static_cast<uint64_t>(layout.slots));
  // A quarter of the address space leaves room for sums.
  constexpr uint64_t kMost = uint64_t{1} << 61;
  if (!cache || *cache > kMost || !windows || *windows > kMost || !states ||
      *states > kMost) {
    fail(RC_E_DEVICE_MEMORY, "a KV cache of ", layout.pages, " pages, ",
         layout.window_pages, " pages of windows and ", layout.slots,
         " slots is larger than any memory; ask for fewer");
  }
}

// Puts experts on the device of the options, which is added to the devices
// unless it is one of them. Returns of how many layers.
int64_t move_experts(const runtime::ProgramDescription& description,
                     const ResidentOptions& options,
                     std::vector<size_t>& wished,
                     std::vector<std::shared_ptr<runtime::Device>>& devices) {
  const auto found = std::ranges::find(devices, options.experts_on);
  const auto number = static_cast<size_t>(found - devices.begin());
  if (found == devices.end()) devices.push_back(options.experts_on);
  const std::vector<size_t> ops = expert_ops(description);
  std::set<int32_t> parts;
  for (const size_t op : ops) parts.insert(description.parts[op]);
  while (options.experts_on_layers > 0 &&
         std::ssize(parts) > options.experts_on_layers) {
    parts.erase(parts.begin());
  }
  for (const size_t op : ops) {
    if (parts.contains(description.parts[op])) wished[op] = number;
  }
  return std::ssize(parts);
}

// The part with which one of the program is placed: with a layer what is stored
// for it of a source; what reads the source with the first layer, whose caches
// it uses.
size_t placed_part(const ModelFile& file, int32_t number) {
  const auto part = static_cast<size_t>(number);
  const size_t count = part_count(file);
  if (part < count) return part;
  const size_t reading = file.source()->layers.size() + 1;
  const size_t of_source = part - count;
  return 1 + (of_source < reading ? 0 : of_source - reading);
}

void count_layers(std::span<const size_t> device_of_part,
                  std::vector<DeviceMemory>& devices) {
  devices[device_of_part.front()].embedding = true;
  devices[device_of_part.back()].output = true;
  for (size_t part = 1; part + 1 < device_of_part.size(); ++part) {
    DeviceMemory& here = devices[device_of_part[part]];
    if (here.layers++ == 0) here.first_layer = static_cast<int64_t>(part) - 1;
  }
}

void plan_memory(const ModelFile& file, const ResidentOptions& options,
                 std::span<const size_t> device_of_part, Placement& placement) {
  const runtime::Split& split = placement.split;
  MemoryPlan& plan = placement.memory;
  plan.transfers = split.transfer_bytes;
  const std::vector<LayerState> states =
      layer_states(file.hyper_parameters(), options.cache);
  for (size_t d = 0; d < placement.devices.size(); ++d) {
    const runtime::Split::Share& share = split.devices[d];
    DeviceMemory here;
    here.device = placement.devices[d];
    const auto set = WeightSet::of(file, *here.device);
    for (size_t i = 0; i < split.weights.size(); ++i) {
      if (share.weight_uses[i] == 0) continue;
      runtime::WeightInfo weight = split.weights[i];
      weight.uses = share.weight_uses[i];
      const uint64_t bytes = weight_bytes(file, *here.device, weight, options);
      here.weights += bytes;
      const bool shares =
          set != nullptr && !stays_mapped(file, weight, options);
      auto resident = shares ? set->find(weight) : nullptr;
      if (resident != nullptr || (shares && options.reserved != nullptr &&
                                  options.reserved->has(*set, weight))) {
        here.shared += bytes;
        placement.shared.push_back(
            {std::move(resident), here.device.get(), bytes});
      } else if (const uint64_t page = here.device->huge_page_bytes()) {
        here.huge_page_weights += bytes / page * page;
      }
    }
    for (size_t i = 0; i < split.caches.size(); ++i) {
      if (!share.caches[i]) continue;
      const uint64_t bytes = cache_bytes(split.caches[i]);
      const LayerState::Kind kind = states[i].kind;
      (kind == LayerState::Kind::kSlot ? here.states : here.cache) += bytes;
      if (kind == LayerState::Kind::kWindow) here.windows += bytes;
    }
    here.scratch = share.scratch_bytes;
    plan.weights += here.weights;
    plan.shared += here.shared;
    plan.cache += here.cache;
    plan.states += here.states;
    plan.scratch += here.scratch;
    plan.devices.push_back(std::move(here));
  }
  count_layers(device_of_part, plan.devices);
}

}  // namespace

uint64_t cache_bytes(const rc_plugin_value& cache) {
  uint64_t rows = 1;
  for (int i = 0; i + 1 < cache.rank; ++i) {
    rows *= static_cast<uint64_t>(cache.shape[i]);
  }
  return rows * *row_bytes(cache.dtype, cache.shape[cache.rank - 1]);
}

bool stays_mapped(const ModelFile& file, const runtime::WeightInfo& weight,
                  const ResidentOptions& options) {
  const bool asked = options.keep_mapped ||
                     (options.experts_mapped && weight.uses == RC_USE_EXPERTS);
  return asked && (weight.uses & RC_USE_ELEMENTS) == 0 &&
         !file.is_made(weight.name) && !rows_of_heads(weight.name);
}

int64_t resident_experts(const runtime::Device& device,
                         const runtime::WeightInfo& weight,
                         const ResidentOptions& options) {
  if (!options.experts_mapped || weight.uses != RC_USE_EXPERTS ||
      weight.shape.size() < 3 || !device.keeps_experts()) {
    return 0;
  }
  return std::min(options.resident_experts, weight.shape.front());
}

uint64_t weight_bytes(const ModelFile& file, const runtime::Device& device,
                      const runtime::WeightInfo& weight,
                      const ResidentOptions& options) {
  if (!stays_mapped(file, weight, options)) return device.weight_bytes(weight);
  const char* const option =
      options.keep_mapped ? "keep_mapped" : "experts_mapped";
  if (!device.maps_weights()) {
    fail(RC_E_UNSUPPORTED, device.id(),
         " cannot compute from the mapped file: it needs a copy of ",
         weight.name, "; load without ", option);
  }
  if (!file.file().mappable()) {
    fail(RC_E_UNSUPPORTED, file.file().name(),
         ": the weights of a folder are rearranged while they are read and "
         "cannot stay mapped; load without ",
         option, ", or convert the folder to a GGUF file");
  }
  const int64_t resident = resident_experts(device, weight, options);
  if (resident == 0) return 0;
  runtime::WeightInfo copies = weight;
  copies.shape.front() = resident;
  return device.weight_bytes(copies);
}

size_t part_count(const ModelFile& file) {
  return file.hyper_parameters().layers.size() + 2;
}

Placement place(const ModelFile& file, const ResidentOptions& options,
                const runtime::DeviceChain& chain,
                std::vector<std::shared_ptr<runtime::Device>> devices,
                std::span<const size_t> device_of_part) {
  runtime::ProgramDescription description =
      file.forward(options.cache, options.takes_embeddings);
  check_cache(file, options.cache);
  Placement placement;
  placement.inputs =
      ProgramInputs({file, options.cache, options.takes_embeddings});
  if (options.observes_products) {
    placement.observation = observe_products(file.file(), description);
  }
  std::vector<size_t> wished;
  wished.reserve(description.ops.size());
  for (const int32_t part : description.parts) {
    wished.push_back(device_of_part[placed_part(file, part)]);
  }
  placement.devices = std::move(devices);
  const int64_t expert_layers =
      options.experts_on == nullptr
          ? 0
          : move_experts(description, options, wished, placement.devices);
  runtime::Assignment assignment = runtime::assign(
      description, std::move(wished), placement.devices,
      [&] { return chain.open_fallback(); }, chain.strict());
  placement.fallbacks = std::move(assignment.fallbacks);
  placement.split = runtime::split(description, assignment.device_of_op,
                                   placement.devices.size(), options.limits);
  plan_memory(file, options, device_of_part, placement);
  for (DeviceMemory& here : placement.memory.devices) {
    if (here.device == options.experts_on) here.expert_layers = expert_layers;
  }
  return placement;
}

Placement place(const ModelFile& file, const ResidentOptions& options,
                const runtime::DeviceChain& chain) {
  const std::vector<size_t> all_on_first(part_count(file), 0);
  return place(file, options, chain, {chain.first()}, all_on_first);
}

}  // namespace rc::model
