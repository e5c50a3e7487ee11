#include "model/resident_model.h"

#include <algorithm>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "tensor/dtype.h"

namespace rc::model {
namespace {

uint64_t cache_bytes(const rc_plugin_value& cache) {
  const auto rows =
      static_cast<uint64_t>(cache.shape[0] * cache.shape[1] * cache.shape[2]);
  return rows * *row_bytes(cache.dtype, cache.shape[3]);
}

// The description's scratch offsets are planned by this.
MemoryPlan plan(const ModelFile& file, const runtime::Device& device,
                const ResidentOptions& options,
                runtime::ProgramDescription& description) {
  MemoryPlan memory;
  for (const runtime::WeightInfo& weight : description.weights) {
    memory.weights += device.weight_bytes(weight);
  }
  const std::optional<uint64_t> cache =
      checked_mul(file.page_bytes(options.cache.dtype, options.cache.page_size),
                  static_cast<uint64_t>(options.cache.pages));
  // A quarter of the address space leaves room for sums.
  if (!cache || *cache > (uint64_t{1} << 62)) {
    fail(RC_E_DEVICE_MEMORY, "a KV cache of ", options.cache.pages,
         " pages is larger than any memory; ask for fewer");
  }
  memory.cache = *cache;
  memory.scratch = runtime::plan_scratch(description, options.limits);
  return memory;
}

void check_fits(const ModelFile& file, const runtime::Device& device,
                const ResidentOptions& options, const MemoryPlan& memory) {
  const uint64_t available = device.info().free_memory;
  if (available == 0 || memory.total() <= available) return;
  const uint64_t fixed = memory.weights + memory.scratch;
  const uint64_t page =
      file.page_bytes(options.cache.dtype, options.cache.page_size);
  const uint64_t pages = available > fixed ? (available - fixed) / page : 0;
  const std::string advice =
      pages == 0 ? std::string("not even one page of KV cache would fit")
                 : cat("a KV cache of ",
                       pages * static_cast<uint64_t>(options.cache.page_size),
                       " positions would fit");
  fail(RC_E_DEVICE_MEMORY, file.file().name(), " needs ", memory.total(),
       " bytes on ", device.id(), " (weights ", memory.weights, ", KV cache ",
       memory.cache, ", scratch ", memory.scratch, "), but ", available,
       " are free; ", advice);
}

void check_element(const char* name, size_t row, int64_t value, int64_t count) {
  if (value < 0 || value >= count) {
    fail(RC_E_INVALID_ARGUMENT, "batch: ", name, " ", value, " of row ", row,
         " is not within 0 to ", count - 1);
  }
}

void check_count(const char* name, size_t count, int64_t expected) {
  if (count != static_cast<uint64_t>(expected)) {
    fail(RC_E_INVALID_ARGUMENT, "batch: ", count, " ", name, " instead of ",
         expected);
  }
}

// A backend trusts what it reads here.
void check_batch(const Batch& batch, const HyperParameters& hyper,
                 const ResidentOptions& options) {
  const auto rows = static_cast<int64_t>(batch.tokens.size());
  const runtime::ProgramLimits& limits = options.limits;
  const CacheLayout& cache = options.cache;
  if (rows < 1 || rows > limits.max_rows ||
      batch.output_rows.size() > static_cast<uint64_t>(limits.max_outputs) ||
      batch.sequence_count < 1 || batch.sequence_count > limits.max_sequences) {
    fail(RC_E_INVALID_ARGUMENT, "batch: ", rows, " rows, ",
         batch.output_rows.size(), " outputs, ", batch.sequence_count,
         " sequences, but the model takes at most ", limits.max_rows, ", ",
         limits.max_outputs, ", ", limits.max_sequences);
  }
  check_count("positions", batch.positions.size(), rows);
  check_count("sequences", batch.sequences.size(), rows);
  check_count("page table entries", batch.page_table.size(),
              batch.sequence_count * cache.pages_per_sequence);

  std::vector<int64_t> used_pages(static_cast<size_t>(batch.sequence_count));
  for (size_t row = 0; row < batch.tokens.size(); ++row) {
    check_element("token", row, batch.tokens[row], hyper.vocabulary);
    check_element("sequence", row, batch.sequences[row], batch.sequence_count);
    check_element("position", row, batch.positions[row],
                  cache.pages_per_sequence * cache.page_size);
    int64_t& used = used_pages[static_cast<size_t>(batch.sequences[row])];
    used = std::max(used, batch.positions[row] / cache.page_size + 1);
  }
  for (size_t sequence = 0; sequence < used_pages.size(); ++sequence) {
    const int32_t* table =
        batch.page_table.data() +
        sequence * static_cast<size_t>(cache.pages_per_sequence);
    for (int64_t i = 0; i < used_pages[sequence]; ++i) {
      check_element("page", sequence, table[i], cache.pages);
    }
  }
  for (size_t i = 0; i < batch.output_rows.size(); ++i) {
    check_element("output row", i, batch.output_rows[i], rows);
  }
}

}  // namespace

MemoryPlan plan_memory(const ModelFile& file, const runtime::Device& device,
                       const ResidentOptions& options) {
  runtime::ProgramDescription description = file.forward(options.cache);
  return plan(file, device, options, description);
}

std::unique_ptr<ResidentModel> ResidentModel::load(
    std::shared_ptr<const ModelFile> file,
    std::shared_ptr<runtime::Device> device, const ResidentOptions& options,
    const std::function<bool(double)>& progress) {
  runtime::ProgramDescription description = file->forward(options.cache);
  const MemoryPlan memory = plan(*file, *device, options, description);
  check_fits(*file, *device, options, memory);

  const auto report = [&](double fraction) {
    if (progress && !progress(fraction)) {
      fail(RC_E_CANCELLED, file->file().name(), ": loading was cancelled");
    }
  };
  std::unique_ptr<ResidentModel> model(new ResidentModel());
  std::vector<std::shared_ptr<runtime::Weight>> weights;
  uint64_t loaded = 0;
  report(0.0);
  for (const runtime::WeightInfo& weight : description.weights) {
    weights.push_back(
        device->create_weight(weight, file->weight_data(weight.name)));
    loaded += device->weight_bytes(weight);
    report(static_cast<double>(loaded) / static_cast<double>(memory.weights));
  }
  for (const rc_plugin_value& cache : description.caches) {
    model->caches_.push_back(device->create_buffer(cache_bytes(cache)));
  }
  model->program_ =
      runtime::Program::compile(device, std::move(description), options.limits,
                                std::move(weights), model->caches_);
  model->file_ = std::move(file);
  model->device_ = std::move(device);
  model->options_ = options;
  model->memory_ = memory;
  return model;
}

void ResidentModel::run(const Batch& batch, float* logits,
                        int32_t (*should_stop)(void*), void* user,
                        int64_t timeout_ms) {
  check_batch(batch, file_->hyper_parameters(), options_);
  runtime::RunArguments arguments;
  arguments.rows = static_cast<int64_t>(batch.tokens.size());
  arguments.outputs = static_cast<int64_t>(batch.output_rows.size());
  arguments.sequences = batch.sequence_count;
  arguments.inputs.resize(kForwardInputCount);
  arguments.inputs[kTokens] = batch.tokens.data();
  arguments.inputs[kPositions] = batch.positions.data();
  arguments.inputs[kSequences] = batch.sequences.data();
  arguments.inputs[kPageTable] = batch.page_table.data();
  // A backend may refuse NULL even where nothing is to be read or written.
  int32_t no_row = 0;
  float no_logits = 0.0f;
  const bool wanted = !batch.output_rows.empty();
  arguments.inputs[kOutputRows] = wanted ? batch.output_rows.data() : &no_row;
  arguments.outputs_data = {wanted ? logits : &no_logits};
  arguments.should_stop = should_stop;
  arguments.user = user;
  program_->run(arguments, timeout_ms);
}

uint64_t ResidentModel::page_bytes() const {
  return file_->page_bytes(options_.cache.dtype, options_.cache.page_size);
}

void ResidentModel::copy_page(int64_t target, int64_t source) {
  check_page(target);
  check_page(source);
  if (target == source) return;
  const uint64_t bytes = page_bytes() / caches_.size();
  for (const std::shared_ptr<runtime::Buffer>& cache : caches_) {
    cache->copy(static_cast<uint64_t>(target) * bytes,
                static_cast<uint64_t>(source) * bytes, bytes);
  }
}

void ResidentModel::download_page(int64_t page,
                                  std::span<std::byte> target) const {
  check_page(page);
  check_page_bytes(target.size());
  const uint64_t bytes = page_bytes() / caches_.size();
  std::byte* end = target.data();
  for (const std::shared_ptr<runtime::Buffer>& cache : caches_) {
    cache->download(static_cast<uint64_t>(page) * bytes, end, bytes);
    end += bytes;
  }
}

void ResidentModel::upload_page(int64_t page,
                                std::span<const std::byte> source) {
  check_page(page);
  check_page_bytes(source.size());
  const uint64_t bytes = page_bytes() / caches_.size();
  const std::byte* next = source.data();
  for (const std::shared_ptr<runtime::Buffer>& cache : caches_) {
    cache->upload(static_cast<uint64_t>(page) * bytes, next, bytes);
    next += bytes;
  }
}

void ResidentModel::check_page(int64_t page) const {
  if (page < 0 || page >= options_.cache.pages) {
    fail(RC_E_INVALID_ARGUMENT, "page ", page, " is not within 0 to ",
         options_.cache.pages - 1);
  }
}

void ResidentModel::check_page_bytes(size_t bytes) const {
  if (bytes != page_bytes()) {
    fail(RC_E_INVALID_ARGUMENT, "a page has ", page_bytes(), " bytes, not ",
         bytes);
  }
}

}  // namespace rc::model
