// Adapters, devices, and what is made once: buffers, layouts, pipelines.
#include <algorithm>
#include <cstring>
#include <vector>

#include "webgpu/browser/functions.h"
#include "webgpu/browser/objects.h"
#include "webgpu/library.h"

namespace rc::webgpu {
namespace {

using abi::Text;

// Of those that are made one after the other, buffers of so many bytes are
// waited for, so that what there is no room for is known at once.
constexpr uint64_t kLargeBuffer = uint64_t{1} << 20;

Text text(const char* chars) { return {chars, SIZE_MAX}; }
Text text(const std::string& chars) { return {chars.data(), chars.size()}; }

// Of the process, under the lock.
std::vector<abi::Device>& devices() {
  static auto* const all = new std::vector<abi::Device>;
  return *all;
}

abi::Instance create_instance(const void*) {
  channel();
  return reinterpret_cast<abi::Instance>(1);
}

void process(abi::Instance) {
  channel().process();
  tell_trouble();
}

// As webgpu.mjs has them in `limitNames`.
abi::Limits limits_of(const uint32_t* words) {
  const auto next = [&] {
    const uint64_t number = words[0] | uint64_t{words[1]} << 32;
    words += 2;
    return number;
  };
  const auto small = [&] {
    return static_cast<uint32_t>(std::min<uint64_t>(next(), UINT32_MAX));
  };
  abi::Limits limits = {};
  limits.storage_buffers = small();
  limits.uniform_binding_bytes = next();
  limits.storage_binding_bytes = next();
  limits.uniform_alignment = small();
  limits.storage_alignment = small();
  limits.buffer_bytes = next();
  limits.workgroup_bytes = small();
  limits.workgroup_invocations = small();
  for (uint32_t& size : limits.workgroup_size) size = small();
  limits.workgroups = small();
  return limits;
}

abi::Future request_adapter(abi::Instance, const abi::AdapterOptions* options,
                            abi::AdapterCallback callback) {
  const uint32_t number = channel().new_object();
  channel().ask(
      Request::k_adapter, {number, options->power, options->fallback},
      [=](const Answer& answer) {
        if (answer.status != Answer::kSuccess) {
          callback.function(answer.status, nullptr, text(answer.message),
                            callback.first, callback.second);
          return;
        }
        const uint32_t* values = answer.values;
        callback.function(
            abi::kSuccess,
            new abi::AdapterObject{number, answer.message, values[0] != 0,
                                   values[1] != 0, values[2] != 0,
                                   limits_of(values + 3)},
            text(""), callback.first, callback.second);
      });
  return {0};
}

uint32_t adapter_info(abi::Adapter adapter, abi::AdapterInfo* info) {
  info->device = text(adapter->name);
  info->description = text("");
  info->interface = abi::kWebGpu;
  // A browser distinguishes only processors and hardware.
  info->kind = adapter->software ? abi::kCpu : abi::kIntegrated;
  return abi::kSuccess;
}

uint32_t adapter_limits(abi::Adapter adapter, abi::Limits* limits) {
  *limits = adapter->limits;
  return abi::kSuccess;
}

uint32_t adapter_feature(abi::Adapter adapter, uint32_t feature) {
  return feature == abi::kFeatureF16         ? adapter->f16
         : feature == abi::kFeatureSubgroups ? adapter->subgroups
                                             : 0;
}

void release_adapter(abi::Adapter adapter) {
  release_number(adapter->number);
  delete adapter;
}

abi::Future request_device(abi::Adapter adapter,
                           const abi::DeviceDescription* description,
                           abi::DeviceCallback callback) {
  auto* device = new abi::DeviceObject{
      channel().new_object(), channel().new_object(), new Trouble,
      description->lost,      description->error,     false};
  channel().ask(Request::k_device,
                {adapter->number, device->number, device->queue,
                 address(device->trouble)},
                [=](const Answer& answer) {
                  if (answer.status != Answer::kSuccess) {
                    callback.function(answer.status, nullptr,
                                      text(answer.message), callback.first,
                                      callback.second);
                    delete device;
                    return;
                  }
                  devices().push_back(device);
                  callback.function(abi::kSuccess, device, text(""),
                                    callback.first, callback.second);
                });
  return {0};
}

abi::Queue queue_of(abi::Device device) {
  return reinterpret_cast<abi::Queue>(static_cast<uintptr_t>(device->queue));
}

void destroy_device(abi::Device device) {
  channel().put(Request::k_destroy_device, {device->number});
  channel().flush();
}

void release_device(abi::Device device) {
  std::erase(devices(), device);
  release_number(device->number);
  release_number(device->queue);
  channel().flush();
  delete device;
}

// A message of a device, for the next caller that asks for it.
void deliver(abi::Device device, const Answer& answer) {
  device->error.function(
      &device,
      answer.status == Answer::kOutOfMemory ? abi::kErrorOutOfMemory
                                            : abi::kErrorOther,
      text(answer.message), device->error.first, device->error.second);
}

abi::Buffer create_buffer(abi::Device device,
                          const abi::BufferDescription* description) {
  const auto made = numbered<abi::Buffer>();
  const uint64_t bytes = description->bytes;
  if (bytes < kLargeBuffer) {
    channel().put(Request::k_buffer,
                  {0, device->number, number_of(made), low(bytes), high(bytes),
                   low(description->use)});
    return made;
  }
  const auto answer = channel().ask(
      Request::k_buffer, {device->number, number_of(made), low(bytes),
                          high(bytes), low(description->use)});
  if (answer->status == Answer::kSuccess) return made;
  deliver(device, *answer);
  return nullptr;
}

// The text goes to JavaScript with the pipeline that is made of it.
abi::ShaderModule create_module(abi::Device,
                                const abi::Description* description) {
  const auto* wgsl =
      reinterpret_cast<const abi::WgslSource*>(description->next);
  return reinterpret_cast<abi::ShaderModule>(
      new std::string(wgsl->code.data, wgsl->code.length));
}

void release_module(abi::ShaderModule module) {
  delete reinterpret_cast<std::string*>(module);
}

abi::BindGroupLayout create_group_layout(
    abi::Device device, const abi::BindGroupLayoutDescription* description) {
  const auto made = numbered<abi::BindGroupLayout>();
  std::vector<uint32_t> words = {device->number, number_of(made)};
  for (size_t i = 0; i < description->count; ++i) {
    const abi::BindGroupLayoutEntry& entry = description->entries[i];
    words.insert(words.end(), {entry.binding, entry.buffer.type});
  }
  channel().put(Request::k_group_layout, words);
  return made;
}

abi::BindGroup create_group(abi::Device device,
                            const abi::BindGroupDescription* description) {
  const auto made = numbered<abi::BindGroup>();
  std::vector<uint32_t> words = {device->number, number_of(made),
                                 number_of(description->layout)};
  for (size_t i = 0; i < description->count; ++i) {
    const abi::BindGroupEntry& entry = description->entries[i];
    words.insert(words.end(),
                 {entry.binding, number_of(entry.buffer), low(entry.offset),
                  high(entry.offset), low(entry.bytes), high(entry.bytes)});
  }
  channel().put(Request::k_group, words);
  return made;
}

abi::PipelineLayout create_layout(
    abi::Device device, const abi::PipelineLayoutDescription* description) {
  const auto made = numbered<abi::PipelineLayout>();
  channel().put(Request::k_layout, {device->number, number_of(made),
                                    number_of(description->groups[0])});
  return made;
}

abi::Pipeline create_pipeline(abi::Device device,
                              const abi::PipelineDescription* description) {
  const auto made = numbered<abi::Pipeline>();
  const auto& source =
      *reinterpret_cast<std::string*>(description->compute.module);
  const auto answer = channel().ask(
      Request::k_pipeline,
      {device->number, number_of(made), number_of(description->layout),
       address(source.data()), static_cast<uint32_t>(source.size())});
  if (answer->status == Answer::kSuccess) return made;
  deliver(device, *answer);
  return nullptr;
}

}  // namespace

void tell_trouble() {
  // Callbacks may look at devices, but open none.
  for (const abi::Device device : devices()) {
    Trouble& trouble = *device->trouble;
    if (trouble.lost != 0 && !device->told_loss) {
      device->told_loss = true;
      device->lost.function(&device, 0, text(trouble.loss), device->lost.first,
                            device->lost.second);
    }
    if (trouble.failed == 0) continue;
    device->error.function(
        &device,
        trouble.out_of_memory != 0 ? abi::kErrorOutOfMemory : abi::kErrorOther,
        text(trouble.failure), device->error.first, device->error.second);
    trouble.failed = 0;
  }
}

void add_device_functions(abi::Functions* functions) {
  abi::Functions& f = *functions;
  f.CreateInstance = create_instance;
  f.InstanceProcessEvents = process;
  f.InstanceRequestAdapter = request_adapter;
  f.AdapterGetInfo = adapter_info;
  f.AdapterInfoFreeMembers = [](abi::AdapterInfo) {};
  f.AdapterGetLimits = adapter_limits;
  f.AdapterHasFeature = adapter_feature;
  f.AdapterRequestDevice = request_device;
  f.AdapterRelease = release_adapter;
  f.DeviceGetQueue = queue_of;
  f.DeviceDestroy = destroy_device;
  f.DeviceRelease = release_device;
  f.DeviceCreateBuffer = create_buffer;
  f.DeviceCreateShaderModule = create_module;
  f.DeviceCreateBindGroupLayout = create_group_layout;
  f.DeviceCreateBindGroup = create_group;
  f.DeviceCreatePipelineLayout = create_layout;
  f.DeviceCreateComputePipeline = create_pipeline;
  f.QueueRelease = [](abi::Queue) {};  // with its device
  f.BufferRelease = release_object<abi::Buffer>;
  f.ShaderModuleRelease = release_module;
  f.BindGroupLayoutRelease = release_object<abi::BindGroupLayout>;
  f.BindGroupRelease = release_object<abi::BindGroup>;
  f.PipelineLayoutRelease = release_object<abi::PipelineLayout>;
  f.ComputePipelineRelease = release_object<abi::Pipeline>;
}

}  // namespace rc::webgpu
