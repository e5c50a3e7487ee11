#include "webgpu/recording.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "webgpu/memory.h"

namespace rc::webgpu {
namespace {

using gpu::Dispatch;
using gpu::Region;

constexpr uint64_t kParameterBytes = gpu::kParameterWords * sizeof(uint32_t);
// The caller of wait is asked at least so often whether to stop.
constexpr int64_t kAskMs = 10;
constexpr uint64_t kFaultBytes = 16;

// Whole quads, as the sizes of all buffers are.
uint64_t whole(uint64_t bytes) {
  return std::max<uint64_t>((bytes + 15) / 16 * 16, 16);
}

void end(abi::Pass* pass) {
  if (*pass == nullptr) return;
  wgpu().ComputePassEncoderEnd(*pass);
  wgpu().ComputePassEncoderRelease(*pass);
  *pass = nullptr;
}

}  // namespace

Recording::Recording(WebGpuDevice& device, const gpu::PlacedProgram& program)
    : device_(device), dispatches_(program.dispatches) {
  for (const gpu::Placed& placed : program.values) {
    if (placed.value.storage == RC_STORAGE_SCRATCH) {
      scratch_ = placed.region.buffer;
    }
  }
  counts_ = device.make_buffer(16, abi::kUseUniform | abi::kUseCopyTo);
  fault_ = device.make_buffer(
      kFaultBytes, abi::kUseStorage | abi::kUseCopyTo | abi::kUseCopyFrom);
  nothing_ = device.make_buffer(16, abi::kUseStorage);
  make_parameters();
  make_all_steps();
  for (auto& progress : progress_) progress = std::make_shared<Progress>();
}

void Recording::rebind() { make_all_steps(); }

void Recording::make_all_steps() {
  map_ = ScratchMap();
  steps_.clear();
  steps_.resize(dispatches_.size());
  for (size_t first = 0; first < dispatches_.size();) {
    size_t last = first + 1;
    while (last < dispatches_.size() &&
           dispatches_[last].op == dispatches_[first].op) {
      ++last;
    }
    make_steps(first, last);
    first = last;
  }
}

void Recording::make_parameters() {
  const abi::Limits& limits = device_.limits();
  parameter_step_ =
      std::max({kParameterBytes, uint64_t{limits.uniform_alignment},
                uint64_t{limits.storage_alignment}});
  std::vector<uint8_t> all(dispatches_.size() * parameter_step_);
  for (size_t i = 0; i < dispatches_.size(); ++i) {
    const std::vector<uint32_t>& words = dispatches_[i].parameters;
    std::memcpy(all.data() + i * parameter_step_, words.data(),
                words.size() * sizeof words[0]);
  }
  parameters_ = device_.make_buffer(
      all.size(), abi::kUseUniform | abi::kUseStorage | abi::kUseCopyTo);
  if (all.empty()) return;
  const Lock lock;
  wgpu().QueueWriteBuffer(device_.queue(), parameters_.get(), 0, all.data(),
                          all.size());
}

void Recording::make_steps(size_t first, size_t last) {
  std::vector<uint32_t> read;
  for (size_t i = first; i < last; ++i) {
    for (const gpu::Binding& binding : dispatches_[i].bindings) {
      const Region& region = binding.region;
      if (region.buffer != scratch_ || !gpu::reads(dispatches_[i], binding)) {
        continue;
      }
      for (const auto& part : map_.find(region.offset, whole(region.bytes))) {
        read.push_back(part.number);
      }
    }
  }
  const uint32_t written = least_without(read);
  for (size_t i = first; i < last; ++i) make_group(i, written);
  for (size_t i = first; i < last; ++i) {
    for (const gpu::Binding& binding : dispatches_[i].bindings) {
      if (binding.region.buffer == scratch_ &&
          !gpu::reads(dispatches_[i], binding)) {
        map_.write(binding.region.offset, binding.region.bytes, written);
      }
    }
  }
}

abi::Buffer Recording::scratch_buffer(uint32_t number) {
  if (number == 0) return static_cast<const Buffer*>(scratch_)->get();
  while (more_scratch_.size() < number) {
    more_scratch_.push_back(device_.make_buffer(
        scratch_->bytes(),
        abi::kUseStorage | abi::kUseCopyFrom | abi::kUseCopyTo));
  }
  return more_scratch_[number - 1].get();
}

Recording::Bound Recording::written_at(const Region& region,
                                       uint32_t scratch_number) {
  if (region.buffer == scratch_) {
    return {scratch_buffer(scratch_number), region.offset};
  }
  return {static_cast<const Buffer*>(region.buffer)->get(), region.offset};
}

Recording::Bound Recording::read_at(const Region& region,
                                    const std::vector<abi::Buffer>& written,
                                    Step* step) {
  std::vector<ScratchMap::Part> parts = {
      {region.offset, region.offset + whole(region.bytes), 0}};
  if (region.buffer == scratch_) {
    parts = map_.find(region.offset, whole(region.bytes));
  }
  const Bound bound = written_at(region, parts.front().number);
  const bool one = parts.size() == 1;
  if (one && std::find(written.begin(), written.end(), bound.buffer) ==
                 written.end()) {
    return bound;
  }
  step->copied.push_back(
      device_.make_buffer(region.bytes, abi::kUseStorage | abi::kUseCopyTo));
  const abi::Buffer copy = step->copied.back().get();
  for (const ScratchMap::Part& part : parts) {
    step->copies.push_back({written_at(region, part.number).buffer, part.begin,
                            copy, part.begin - region.offset,
                            part.end - part.begin});
  }
  return {copy, 0};
}

void Recording::make_group(size_t number, uint32_t written) {
  const Dispatch& dispatch = dispatches_[number];
  Step& step = steps_[number];
  const Aliases aliases = aliases_of(dispatch);
  step.pipeline =
      device_.pipelines().get({dispatch.kernel, dispatch.constants}, aliases);
  std::vector<abi::BindGroupEntry> entries;
  uint32_t left = bound_slots(dispatch.kernel, aliases);
  const auto bind = [&](uint32_t slot, abi::Buffer buffer, uint64_t offset,
                        uint64_t bytes) {
    entries.push_back({nullptr, slot, buffer, offset, bytes, nullptr, nullptr});
    left &= ~(1u << slot);
  };
  bind(kCountsSlot, counts_.get(), 0, 16);
  bind(kParametersSlot, parameters_.get(), number * parameter_step_,
       kParameterBytes);
  if (gpu::slots_of(dispatch.kernel).fault) {
    bind(gpu::kFaultSlot, fault_.get(), 0, kFaultBytes);
  }
  std::vector<abi::Buffer> outputs;
  for (const gpu::Binding& binding : dispatch.bindings) {
    if (gpu::reads(dispatch, binding)) continue;
    const Bound bound = written_at(binding.region, written);
    outputs.push_back(bound.buffer);
    bind(binding.slot, bound.buffer, bound.offset, whole(binding.region.bytes));
  }
  for (const gpu::Binding& binding : dispatch.bindings) {
    const bool bound_here = (left >> binding.slot & 1) != 0;
    if (!gpu::reads(dispatch, binding) || !bound_here) continue;
    const Bound bound = read_at(binding.region, outputs, &step);
    bind(binding.slot, bound.buffer, bound.offset, whole(binding.region.bytes));
  }
  // Every slot of the layout is bound.
  for (uint32_t slot = 0; slot < 32; ++slot) {
    if ((left >> slot & 1) != 0) bind(slot, nothing_.get(), 0, 16);
  }
  abi::BindGroupDescription description = {};
  description.layout = step.pipeline.groups;
  description.count = entries.size();
  description.entries = entries.data();
  const Lock lock;
  step.group =
      GroupHandle(wgpu().DeviceCreateBindGroup(device_.get(), &description));
  device_.check(gpu::kernel_name(dispatch.kernel));
}

void Recording::begin(const gpu::RunSize& size,
                      std::span<const gpu::Transfer> inputs,
                      std::span<const gpu::Transfer> outputs) {
  size_ = size;
  outputs_ = outputs;
  next_ = 0;
  staged_ = false;
  results_.clear();
  for (const gpu::Transfer& input : inputs) {
    // Inputs are buffers that the host writes to.
    const_cast<gpu::Buffer*>(input.region.buffer)
        ->write(input.region.offset, input.host, input.region.bytes);
  }
  uint64_t bytes = kFaultBytes;
  for (const gpu::Transfer& output : outputs) {
    bytes += whole(output.region.bytes);
  }
  if (bytes > staging_bytes_) {
    staging_ = device_.make_buffer(bytes, abi::kUseMapRead | abi::kUseCopyTo);
    staging_bytes_ = bytes;
  }
  const uint32_t counts[4] = {static_cast<uint32_t>(size.rows.rows),
                              static_cast<uint32_t>(size.rows.outputs),
                              static_cast<uint32_t>(size.rows.sequences), 0};
  const uint32_t no_fault[4] = {};
  const Lock lock;
  wgpu().QueueWriteBuffer(device_.queue(), counts_.get(), 0, counts,
                          sizeof counts);
  wgpu().QueueWriteBuffer(device_.queue(), fault_.get(), 0, no_fault,
                          sizeof no_fault);
  device_.check("a run cannot begin");
}

void Recording::encode(abi::Encoder encoder, abi::Pass* pass, size_t number,
                       uint32_t rows) const {
  const Dispatch& dispatch = dispatches_[number];
  const Step& step = steps_[number];
  if (!step.copies.empty()) end(pass);
  for (const Copy& copy : step.copies) {
    wgpu().CommandEncoderCopyBufferToBuffer(encoder, copy.source, copy.offset,
                                            copy.target, copy.target_offset,
                                            copy.bytes);
  }
  if (*pass == nullptr) {
    const abi::PassDescription nothing = {};
    *pass = wgpu().CommandEncoderBeginComputePass(encoder, &nothing);
  }
  wgpu().ComputePassEncoderSetPipeline(*pass, step.pipeline.pipeline);
  wgpu().ComputePassEncoderSetBindGroup(*pass, 0, step.group.get(), 0, nullptr);
  wgpu().ComputePassEncoderDispatchWorkgroups(
      *pass, dispatch.x, (rows + dispatch.batch - 1) / dispatch.batch,
      dispatch.z);
}

double Recording::submit(int portion, double work) {
  double taken = 0;
  device_.submit([&](abi::Encoder encoder) {
    abi::Pass pass = nullptr;
    bool encoded = false;
    for (; !submitted() && (!encoded || taken < work); ++next_) {
      const Dispatch& dispatch = dispatches_[next_];
      const uint32_t rows = dispatch.rows.count(size_.rows);
      if (rows == 0) continue;
      encode(encoder, &pass, next_, rows);
      encoded = true;
      taken += dispatch.work.of(dispatch.rows, size_, rows);
    }
    end(&pass);
    if (submitted()) read_back(encoder);
  });
  const auto take = [](uint32_t, abi::Text, void* first, void*) {
    const std::unique_ptr<std::shared_ptr<Progress>> progress(
        static_cast<std::shared_ptr<Progress>*>(first));
    (*progress)->over = true;
  };
  progress_[portion] = std::make_shared<Progress>();
  const Lock lock;
  progress_[portion]->over = false;
  wgpu().QueueOnSubmittedWorkDone(
      device_.queue(),
      {nullptr, abi::kWithEvents, take,
       new std::shared_ptr<Progress>(progress_[portion]), nullptr});
  return taken;
}

void Recording::read_back(abi::Encoder encoder) {
  const auto& copy = wgpu().CommandEncoderCopyBufferToBuffer;
  copy(encoder, fault_.get(), 0, staging_.get(), 0, kFaultBytes);
  uint64_t at = kFaultBytes;
  for (const gpu::Transfer& output : outputs_) {
    copy(encoder, static_cast<const Buffer*>(output.region.buffer)->get(),
         output.region.offset, staging_.get(), at, whole(output.region.bytes));
    at += whole(output.region.bytes);
  }
  staged_ = true;
}

bool Recording::wait(int portion, int64_t timeout_ms) {
  const auto deadline =
      std::chrono::steady_clock::now() +
      std::chrono::milliseconds(timeout_ms < 0 ? kAskMs
                                               : std::min(timeout_ms, kAskMs));
  bool over = false;
  process_until([&] {
    over = progress_[portion]->over;
    return over || device_.lost() ||
           std::chrono::steady_clock::now() >= deadline;
  });
  device_.check("a run failed");
  return over;
}

void Recording::fetch() {
  if (!results_.empty()) return;
  if (!staged_) {  // there was nothing to do
    device_.submit([&](abi::Encoder encoder) { read_back(encoder); });
  }
  std::vector<uint8_t> results(staging_bytes_);
  device_.read(staging_.get(), results.size(), results.data());
  results_ = std::move(results);
}

gpu::Fault Recording::fault() const {
  const_cast<Recording*>(this)->fetch();
  uint32_t words[3];
  std::memcpy(words, results_.data(), sizeof words);
  return {words[0], words[1], words[2]};
}

void Recording::finish() {
  fetch();
  uint64_t at = kFaultBytes;
  for (const gpu::Transfer& output : outputs_) {
    std::memcpy(output.host, results_.data() + at, output.region.bytes);
    at += whole(output.region.bytes);
  }
}

void Recording::wait_idle() noexcept {
  try {
    process_until([&] {
      return (progress_[0]->over && progress_[1]->over) || device_.lost();
    });
  } catch (...) {
    // A caller that waits for the end of a run does not need errors.
  }
}

}  // namespace rc::webgpu
