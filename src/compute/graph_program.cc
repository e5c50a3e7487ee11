#include "compute/graph_program.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "compute/graph_ops.h"
#include "compute/lacking_ops.h"
#include "runtime/assignment.h"
#include "runtime/split.h"

namespace rc::compute {
namespace {

// Tensor ops have no rows.
constexpr runtime::ProgramLimits kLimits = {1, 0, 0};

constexpr int32_t kNone = -1;

// Of each base: whether a part of it is read that does not begin where it
// begins. Scratch memory cannot be addressed like that.
std::vector<bool> read_in_parts(const Recorded& recorded) {
  std::vector<bool> in_parts(recorded.bases.size());
  for (const rc_plugin_value& value : recorded.values) {
    if (value.offset > 0) in_parts[static_cast<size_t>(value.index)] = true;
  }
  return in_parts;
}

}  // namespace

GraphProgram::GraphProgram(std::shared_ptr<Context> context, Recorded recorded,
                           std::span<const int32_t> results)
    : context_(std::move(context)) {
  keep_needed(recorded, results);
  op_count_ = recorded.ops.size();
  if (op_count_ > 0) compile(describe(recorded, results));
}

runtime::ProgramDescription GraphProgram::describe(
    const Recorded& recorded, std::span<const int32_t> results) {
  runtime::ProgramDescription description;
  const std::vector<bool> in_parts = read_in_parts(recorded);
  std::vector<int32_t> result_of(recorded.bases.size(), kNone);
  for (size_t i = 0; i < results.size(); ++i) {
    result_of[static_cast<size_t>(results[i])] = static_cast<int32_t>(i);
  }
  // By base: the number of its cache, or of the scratch value that it is.
  std::vector<int32_t> cache_of(recorded.bases.size(), kNone);
  std::vector<int32_t> scratch_of(recorded.bases.size(), kNone);

  const auto add_cache = [&](size_t number, const rc_plugin_value& value) {
    const Base& base = recorded.bases[number];
    Cache cache = {};
    cache.kind = base.kind;
    cache.wanted = result_of[number] != kNone;
    cache.index =
        cache.wanted ? static_cast<size_t>(result_of[number]) : base.index;
    if (base.kind == Base::kConstant) {
      cache.storage = base.storage;
      cache.bytes = base.storage->buffer()->bytes();
    } else {
      cache.bytes = value_bytes(base.whole, {}).value();
    }
    cache_of[number] = static_cast<int32_t>(caches_.size());
    caches_.push_back(std::move(cache));
    description.caches.push_back(value);
  };
  const auto add_value = [&](int32_t recorded_number, bool written) {
    rc_plugin_value value =
        recorded.values[static_cast<size_t>(recorded_number)];
    const auto number = static_cast<size_t>(value.index);
    const auto next = static_cast<int32_t>(description.values.size());
    const Base& base = recorded.bases[number];
    const bool scratch = base.kind == Base::kResult && !in_parts[number] &&
                         result_of[number] == kNone;
    if (scratch) {
      value.storage = RC_STORAGE_SCRATCH;
      if (written) scratch_of[number] = next;
      value.index = scratch_of[number];
    } else {
      if (cache_of[number] == kNone) add_cache(number, value);
      value.index = cache_of[number];
    }
    description.values.push_back(value);
    return next;
  };
  for (const Op& op : recorded.ops) {
    Op numbered = op;
    for (int32_t& input : numbered.inputs) {
      if (input >= 0) input = add_value(input, false);
    }
    numbered.outputs[0] = add_value(op.outputs[0], true);
    description.ops.push_back(numbered);
  }
  return description;
}

void GraphProgram::compile(runtime::ProgramDescription description) {
  if (!context_->strict()) set_apart(description, *context_->device());
  std::vector<std::shared_ptr<runtime::Device>> devices = {context_->device()};
  const runtime::Assignment assignment = runtime::assign(
      description, std::vector<size_t>(description.ops.size()), devices,
      [&] { return context_->fallback_device(); }, context_->strict());
  for (const runtime::Fallback& fallback : assignment.fallbacks) {
    context_->note(fallback);
  }
  runtime::Split split = runtime::split(description, assignment.device_of_op,
                                        devices.size(), kLimits);
  brings_buffers_ =
      devices.size() == 1 && devices[0]->plugin().run_with != nullptr;

  std::vector<runtime::DeviceContents> contents;
  uint64_t scratch = 0;
  for (size_t d = 0; d < devices.size(); ++d) {
    contents.push_back({devices[d], {}, {}});
    contents[d].caches.resize(caches_.size());
    scratch += split.devices[d].scratch_bytes;
    for (size_t i = 0; i < caches_.size(); ++i) {
      if (!split.devices[d].caches[i]) continue;
      Cache& cache = caches_[i];
      // Ops that use one cache run on one device.
      if (d > 0) {
        cache.buffer = devices[d]->create_buffer(cache.bytes);
        if (cache.kind == Base::kConstant) {
          cache.buffer->copy_from(*cache.storage->buffer(), 0, 0, cache.bytes);
          cache.storage = nullptr;
        }
      } else if (cache.kind == Base::kConstant) {
        cache.buffer = cache.storage->buffer();
      } else if (brings_buffers_ &&
                 (cache.kind == Base::kInput || cache.wanted)) {
        // To compile with.
        contents[d].caches[i] = devices[d]->create_buffer(cache.bytes);
        continue;
      } else {
        cache.storage =
            std::make_shared<Storage>(*context_, cache.bytes, false);
        cache.buffer = cache.storage->buffer();
      }
      contents[d].caches[i] = cache.buffer;
    }
  }
  scratch_.emplace(context_->pool()->account(), scratch);
  program_ = runtime::Program::compile(std::move(split), contents);
  scratch_->use();
  if (brings_buffers_) program_->give_up_caches();
}

uint64_t GraphProgram::memory() const {
  uint64_t bytes = scratch_ ? scratch_->bytes() : 0;
  for (const Cache& cache : caches_) {
    if (cache.buffer != nullptr && cache.kind != Base::kConstant) {
      bytes += cache.buffer->bytes();
    }
  }
  return bytes;
}

const std::shared_ptr<runtime::Buffer>& GraphProgram::buffer_of(
    const Cache& cache, std::span<const Tensor> inputs,
    std::span<const Tensor> results) const {
  if (cache.kind == Base::kInput) return inputs[cache.index].storage->buffer();
  if (cache.wanted) return results[cache.index].storage->buffer();
  return cache.buffer;
}

void GraphProgram::run(std::span<const Tensor> inputs,
                       std::span<const Tensor> results,
                       runtime::RunArguments arguments, int64_t timeout_ms) {
  if (program_ == nullptr) return;
  arguments.rows = kLimits.max_rows;
  if (brings_buffers_) {
    arguments.caches.reserve(caches_.size());
    for (const Cache& cache : caches_) {
      arguments.caches.push_back(buffer_of(cache, inputs, results)->handle());
    }
    return program_->run(arguments, timeout_ms);
  }
  const std::lock_guard lock(mutex_);
  for (const Cache& cache : caches_) {
    if (cache.kind != Base::kInput) continue;
    cache.buffer->copy_from(*buffer_of(cache, inputs, results), 0, 0,
                            cache.bytes);
  }
  program_->run(arguments, timeout_ms);
  for (const Cache& cache : caches_) {
    if (!cache.wanted) continue;
    buffer_of(cache, inputs, results)
        ->copy_from(*cache.buffer, 0, 0, cache.bytes);
  }
}

}  // namespace rc::compute
