#include "model/resident_model.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/error.h"
#include "model/batch_check.h"

namespace rc::model {
namespace {

void check_fits(const ModelFile& file, const ResidentOptions& options,
                const MemoryPlan& memory) {
  for (const DeviceMemory& here : memory.devices) {
    const uint64_t available = here.device->info().free_memory;
    if (available == 0 || here.added() <= available) continue;
    const uint64_t paged = here.cache - here.windows;
    const uint64_t fixed = here.added() - paged;
    const uint64_t page = paged / static_cast<uint64_t>(options.cache.pages);
    const uint64_t pages =
        available > fixed && page > 0 ? (available - fixed) / page : 0;
    const std::string advice =
        pages == 0 ? std::string("not even one page of KV cache would fit")
                   : cat("a KV cache of ",
                         pages * static_cast<uint64_t>(options.cache.page_size),
                         " positions would fit");
    fail(RC_E_DEVICE_MEMORY, file.file().name(), " needs ", here.added(),
         " bytes on ", here.device->id(), " (weights ",
         here.weights - here.shared, ", KV cache ", here.cache, ", states ",
         here.states, ", scratch ", here.scratch, "), but ", available,
         " are free; ", advice);
  }
}

runtime::WeightInfo weight_of(const runtime::Split& split,
                              const runtime::Split::Share& share, size_t i) {
  runtime::WeightInfo weight = split.weights[i];
  weight.uses = share.weight_uses[i];
  return weight;
}

// The bytes on the device and the number of each weight of its share, the
// largest first: while a weight is copied it is in memory twice, which must not
// be what the largest does last.
std::vector<std::pair<uint64_t, size_t>> by_size(
    const ModelFile& file, const runtime::Split& split,
    const runtime::Split::Share& share, const runtime::Device& device,
    const ResidentOptions& options) {
  std::vector<std::pair<uint64_t, size_t>> weights;
  for (size_t i = 0; i < split.weights.size(); ++i) {
    if (share.weight_uses[i] == 0) continue;
    weights.emplace_back(
        weight_bytes(file, device, weight_of(split, share, i), options), i);
  }
  // Among equals in the order of the program, which is that of most files.
  std::stable_sort(
      weights.begin(), weights.end(),
      [](const auto& a, const auto& b) { return a.first > b.first; });
  return weights;
}

}  // namespace

std::unique_ptr<ResidentModel> ResidentModel::load(
    std::shared_ptr<const ModelFile> file, Placement placement,
    const ResidentOptions& options,
    const std::function<bool(double)>& progress) {
  const MemoryPlan& memory = placement.memory;
  const runtime::Split& split = placement.split;
  check_fits(*file, options, memory);

  const auto report = [&](double fraction) {
    if (progress && !progress(fraction)) {
      fail(RC_E_CANCELLED, file->file().name(), ": loading was cancelled");
    }
  };
  std::unique_ptr<ResidentModel> model(new ResidentModel());
  if (options.keep_mapped || options.experts_mapped) {
    model->mapped_ = std::make_shared<gguf::MappedTensors>(
        file->shared_file(), options.guard_mapped);
  }
  std::vector<runtime::DeviceContents> contents;
  std::vector<std::shared_ptr<runtime::Buffer>> caches(split.caches.size());
  uint64_t loaded = 0, at_hand = 0;  // the latter of the one that is read
  WeightBuffer buffer([&](double fraction) {
    report((static_cast<double>(loaded) +
            fraction * static_cast<double>(at_hand)) /
           static_cast<double>(memory.weights));
  });
  report(0.0);
  for (size_t d = 0; d < placement.devices.size(); ++d) {
    const runtime::Split::Share& share = split.devices[d];
    runtime::DeviceContents& here = contents.emplace_back();
    here.device = placement.devices[d];
    here.weights.resize(split.weights.size());
    here.caches.resize(split.caches.size());
    const auto set = WeightSet::of(*file, *here.device);
    const int chosen = here.device->options().threads;
    const int threads =
        chosen != 0 ? chosen
                    : static_cast<int>(std::thread::hardware_concurrency());
    for (const auto& [bytes, i] :
         by_size(*file, split, share, *here.device, options)) {
      const runtime::WeightInfo weight = weight_of(split, share, i);
      if (stays_mapped(*file, weight, options)) {
        const gguf::Tensor& tensor = file->weight_tensor(weight.name);
        here.weights[i] = here.device->map_weight(
            weight, model->mapped_->data(tensor), model->mapped_,
            resident_experts(*here.device, weight, options));
        if (bytes > 0) {
          model->weights_.push_back(
              {here.weights[i].get(), here.device.get(), bytes});
        }
        loaded += bytes;
        continue;
      }
      at_hand = bytes;
      const auto make = [&] {
        return here.device->create_weight(
            weight, file->read_weight(weight.name, buffer, threads));
      };
      here.weights[i] = set ? set->find_or_make(weight, make) : make();
      model->weights_.push_back(
          {here.weights[i].get(), here.device.get(), bytes});
      loaded += bytes;
      report(static_cast<double>(loaded) / static_cast<double>(memory.weights));
    }
    if (set != nullptr) model->sets_.push_back(set);
    for (size_t i = 0; i < split.caches.size(); ++i) {
      if (!share.caches[i]) continue;
      here.caches[i] = here.device->create_buffer(cache_bytes(split.caches[i]));
      caches[i] = here.caches[i];
    }
  }
  using Kind = LayerState::Kind;
  model->groups_ = {{"page", count_of(Kind::kPages, options.cache)},
                    {"window page", count_of(Kind::kWindow, options.cache)},
                    {"slot", count_of(Kind::kSlot, options.cache)}};
  const std::vector<LayerState> states =
      layer_states(file->hyper_parameters(), options.cache);
  for (size_t i = 0; i < states.size(); ++i) {
    model->caches(states[i].kind).add(std::move(caches[i]));
  }
  // Half of one file and half of another would be no model at all.
  file->file().check_unchanged();
  placement.inputs.check(file->file(), split.inputs);
  model->input_values_ = InputValues(placement.inputs, options.limits);
  model->inputs_ = std::move(placement.inputs);
  model->program_ =
      runtime::Program::compile(std::move(placement.split), contents);
  // A step has two runs, where it reads sources.
  model->times_.reserve(2 * model->program_->segment_count());
  model->file_ = std::move(file);
  model->options_ = options;
  model->memory_ = std::move(placement.memory);
  model->fallbacks_ = std::move(placement.fallbacks);
  model->observation_ = std::move(placement.observation);
  return model;
}

std::vector<Resource> ResidentModel::resources() const {
  std::vector<Resource> resources = weights_;
  for (const DeviceMemory& here : memory_.devices) {
    resources.push_back(
        {&here, here.device.get(), here.cache + here.states + here.scratch});
  }
  return resources;
}

void ResidentModel::run(const Batch& batch, float* output,
                        int32_t (*should_stop)(void*), void* user,
                        int64_t timeout_ms) {
  // A backend may refuse NULL even where nothing is to be written.
  float no_output = 0.0f;
  run_stage(kGenerate, batch, {batch.output_rows.empty() ? &no_output : output},
            should_stop, user, timeout_ms);
}

void ResidentModel::observe(const Batch& batch, std::span<void* const> outputs,
                            int32_t (*should_stop)(void*), void* user,
                            int64_t timeout_ms) {
  run_stage(kGenerate, batch, {outputs.begin(), outputs.end()}, should_stop,
            user, timeout_ms);
}

void ResidentModel::read_sources(const Batch& batch,
                                 int32_t (*should_stop)(void*), void* user,
                                 int64_t timeout_ms) {
  if (file_->source() == nullptr) {
    fail(RC_E_INVALID_ARGUMENT, file_->file().name(),
         ": the model reads no sources");
  }
  run_stage(kReadSource, batch, {nullptr}, should_stop, user, timeout_ms);
}

void ResidentModel::run_stage(ForwardStage stage, const Batch& batch,
                              std::vector<void*> outputs,
                              int32_t (*should_stop)(void*), void* user,
                              int64_t timeout_ms) {
  const GivenBatch given = {*file_, options_.cache, batch};
  check_batch(given, inputs_, stage, options_.limits);
  runtime::RunArguments arguments;
  arguments.stage = stage;
  arguments.rows = static_cast<int64_t>(batch.tokens.size());
  if (stage == kGenerate) {
    arguments.outputs = static_cast<int64_t>(batch.output_rows.size());
  }
  arguments.sequences = batch.sequence_count;
  arguments.inputs = input_values_.of(inputs_, given, stage);
  arguments.outputs_data = std::move(outputs);
  arguments.should_stop = should_stop;
  arguments.user = user;
  arguments.paid = batch.paid;
  arguments.device_times = &times_;
  if (mapped_ != nullptr) mapped_->check();
  try {
    program_->run(arguments, timeout_ms);
  } catch (...) {
    if (damaged()) mapped_->check();  // the cause
    throw;
  }
  if (damaged()) mapped_->check();
}

void ResidentModel::take_seconds(std::span<double> seconds) noexcept {
  std::fill(seconds.begin(), seconds.end(), 0.0);
  for (const runtime::DeviceTime& time : times_) {
    for (size_t i = 0; i < memory_.devices.size(); ++i) {
      if (memory_.devices[i].device.get() != time.device) continue;
      seconds[i] += static_cast<double>(time.ns) * 1e-9;
      break;
    }
  }
  times_.clear();
}

bool ResidentModel::damaged() const {
  return mapped_ != nullptr && mapped_->damaged();
}

}  // namespace rc::model
