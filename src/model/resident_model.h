// A model on its device or devices: weights, KV caches and the compiled forward
// program.
//
// Belongs to one thread at a time (the engine thread).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "files/gguf/mapped_tensors.h"
#include "model/cache_group.h"
#include "model/layer_state.h"
#include "model/model_file.h"
#include "model/placement.h"
#include "model/program_inputs.h"
#include "model/weight_set.h"
#include "runtime/program.h"

namespace rc::model {

// Device memory that is paid for as one, however many models use it.
struct Resource {
  const void* identity;  // unlike that of every other resource in use
  runtime::Device* device;
  uint64_t bytes;
};

class ResidentModel {
 public:
  // `placement` is place()'s for the same file and options. `progress` gets the
  // fraction done (0 to 1) and cancels by returning false (RC_E_CANCELLED is
  // thrown then).
  static std::unique_ptr<ResidentModel> load(
      std::shared_ptr<const ModelFile> file, Placement placement,
      const ResidentOptions& options,
      const std::function<bool(double)>& progress);

  const ModelFile& file() const { return *file_; }
  const std::shared_ptr<const ModelFile>& shared_file() const { return file_; }
  const std::vector<runtime::Fallback>& fallbacks() const { return fallbacks_; }
  const ResidentOptions& options() const { return options_; }
  const MemoryPlan& memory() const { return memory_; }
  // The memory that it uses: each weight, which other models may use too, and
  // the rest of it on each device.
  std::vector<Resource> resources() const;

  // Evaluates a batch; output F32 [outputs, ModelFile::output_size()],
  // untouched if there are no outputs. Throws RC_E_INVALID_ARGUMENT for a batch
  // beyond the limits or with a number that points nowhere, before the device
  // sees it; RC_E_CANCELLED if should_stop said so; RC_E_IO if the mapped file
  // has changed or could not be read. See Program::run for timeouts.
  void run(const Batch& batch, float* output, int32_t (*should_stop)(void*),
           void* user, int64_t timeout_ms);
  // Reads the sources of a batch, whose rows are those of whole sources, in
  // order, without outputs; see source.h. Of the tables it uses source_table
  // alone, and of the lengths none. Throws as run().
  void read_sources(const Batch& batch, int32_t (*should_stop)(void*),
                    void* user, int64_t timeout_ms);
  // Of a model that observes its products: evaluates a batch whose rows are all
  // output rows, in order, and fills `outputs`, which are memory for those of
  // observation(), by number. Throws as run().
  void observe(const Batch& batch, std::span<void* const> outputs,
               int32_t (*should_stop)(void*), void* user, int64_t timeout_ms);
  const Observation& observation() const { return observation_; }
  // Returns the inputs that a batch has values of.
  const ProgramInputs& inputs() const { return inputs_; }
  // Writes for how many seconds each of memory().devices has worked in the runs
  // since the last call, however they ended.
  void take_seconds(std::span<double> seconds) noexcept;
  // Mapped weights are lost (see base/mapped_file.h): no run can succeed any
  // more.
  bool damaged() const;

  // The caches. A page has for each layer the keys, then the values,
  // [kv_heads, page_size, head_size] each; a slot all states, layer by layer,
  // as F32.
  CacheGroup& caches(LayerState::Kind kind) {
    return groups_[static_cast<size_t>(kind)];
  }
  const CacheGroup& caches(LayerState::Kind kind) const {
    return groups_[static_cast<size_t>(kind)];
  }
  // See ModelFile.
  int64_t short_context() const { return file_->short_context(options_.cache); }
  bool has_states() const { return file_->slot_bytes() > 0; }
  bool has_windows() const { return options_.cache.window_pages > 0; }

 private:
  ResidentModel() = default;
  void run_stage(ForwardStage stage, const Batch& batch,
                 std::vector<void*> outputs, int32_t (*should_stop)(void*),
                 void* user, int64_t timeout_ms);

  std::shared_ptr<const ModelFile> file_;
  std::shared_ptr<const gguf::MappedTensors> mapped_;  // if options say so
  ResidentOptions options_;
  MemoryPlan memory_;
  std::vector<runtime::Fallback> fallbacks_;
  Observation observation_;
  std::vector<std::shared_ptr<WeightSet>> sets_;  // of the devices
  std::vector<Resource> weights_;
  std::vector<CacheGroup> groups_;  // by kind
  std::unique_ptr<runtime::Program> program_;
  ProgramInputs inputs_;
  InputValues input_values_;
  std::vector<runtime::DeviceTime> times_;  // of runs; has room for two
};

}  // namespace rc::model
