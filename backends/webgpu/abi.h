// The part of the standard C interface of WebGPU that this backend calls, as
// implementations export it: https://webgpu-native.github.io/webgpu-headers.
// Only the layout matters, so the names are ours. Objects are counted
// references; a null pointer is none.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rc::webgpu::abi {

// Texts need not end with a zero.
struct Text {
  const char* data;
  size_t length;
};

// The beginning of a structure that extends another.
struct Extension {
  Extension* next;
  uint32_t kind;
};
inline constexpr uint32_t kKindWgsl = 2;

using Instance = struct InstanceObject*;
using Adapter = struct AdapterObject*;
using Device = struct DeviceObject*;
using Queue = struct QueueObject*;
using Buffer = struct BufferObject*;
using ShaderModule = struct ShaderModuleObject*;
using BindGroupLayout = struct BindGroupLayoutObject*;
using BindGroup = struct BindGroupObject*;
using PipelineLayout = struct PipelineLayoutObject*;
using Pipeline = struct PipelineObject*;
using Encoder = struct EncoderObject*;
using Pass = struct PassObject*;
using Commands = struct CommandsObject*;

struct Future {
  uint64_t id;
};

// When callbacks are called: within processing of events.
inline constexpr uint32_t kWithEvents = 2;
inline constexpr uint32_t kAnyTime = 3;
inline constexpr uint32_t kSuccess = 1;  // of every status

// The function to call with a status, the result if there is one, a message and
// both pointers.
template <class Function>
struct Callback {
  Extension* next;
  uint32_t mode;
  Function* function;
  void* first;
  void* second;
};
using AdapterCallback = Callback<void(uint32_t, Adapter, Text, void*, void*)>;
using DeviceCallback = Callback<void(uint32_t, Device, Text, void*, void*)>;
using StatusCallback = Callback<void(uint32_t, Text, void*, void*)>;
using LostCallback =
    Callback<void(const Device*, uint32_t, Text, void*, void*)>;

inline constexpr uint32_t kErrorOutOfMemory = 3;
inline constexpr uint32_t kErrorOther = 5;  // unknown
struct ErrorCallback {
  Extension* next;
  void (*function)(const Device*, uint32_t, Text, void*, void*);
  void* first;
  void* second;
};

inline constexpr uint32_t kNothing = 1;  // interfaces below
inline constexpr uint32_t kWebGpu = 2;
inline constexpr uint32_t kDiscrete = 1;
inline constexpr uint32_t kIntegrated = 2;
inline constexpr uint32_t kCpu = 3;
struct AdapterInfo {
  Extension* next;
  Text vendor, architecture, device, description;
  uint32_t interface, kind;
  uint32_t vendor_id, device_id;
  uint32_t least_subgroup, most_subgroup;
};

inline constexpr uint32_t kCore = 2;
inline constexpr uint32_t kLowPower = 1;
inline constexpr uint32_t kHighPerformance = 2;
struct AdapterOptions {
  Extension* next;
  uint32_t level, power, fallback, interface;
  void* surface;
};

struct Limits {
  Extension* next;
  uint32_t textures[4];
  uint32_t bind_groups, bind_groups_and_vertex_buffers;
  uint32_t bindings, dynamic_uniform_buffers, dynamic_storage_buffers;
  uint32_t sampled_textures, samplers;
  uint32_t storage_buffers, storage_textures, uniform_buffers;
  uint64_t uniform_binding_bytes, storage_binding_bytes;
  uint32_t uniform_alignment, storage_alignment;
  uint32_t vertex_buffers;
  uint64_t buffer_bytes;
  uint32_t vertex_attributes, vertex_stride, between_stages;
  uint32_t color_attachments, color_bytes;
  uint32_t workgroup_bytes, workgroup_invocations;
  uint32_t workgroup_size[3];
  uint32_t workgroups, immediate_bytes;
  uint32_t of_stages[4];  // of Dawn, which writes them; in 2026 no longer
};

inline constexpr uint32_t kFeatureF16 = 0x0B;
inline constexpr uint32_t kFeatureSubgroups = 0x12;
struct QueueDescription {
  Extension* next;
  Text label;
};
struct DeviceDescription {
  Extension* next;
  Text label;
  size_t feature_count;
  const uint32_t* features;
  const Limits* limits;
  QueueDescription queue;
  LostCallback lost;
  ErrorCallback error;
};

inline constexpr uint64_t kUseMapRead = 0x1;
inline constexpr uint64_t kUseCopyFrom = 0x4;
inline constexpr uint64_t kUseCopyTo = 0x8;
inline constexpr uint64_t kUseUniform = 0x40;
inline constexpr uint64_t kUseStorage = 0x80;
struct BufferDescription {
  Extension* next;
  Text label;
  uint64_t use;
  uint64_t bytes;
  uint32_t mapped;
};
inline constexpr uint64_t kMapRead = 1;

struct WgslSource {
  Extension chain;
  Text code;
};
struct Description {  // of what has but a label
  Extension* next;
  Text label;
};

inline constexpr uint64_t kComputeStage = 4;
inline constexpr uint32_t kBindUniform = 2;
inline constexpr uint32_t kBindStorage = 3;
inline constexpr uint32_t kBindReadOnly = 4;
// Kinds that are not bound at a place are described by zeros.
struct BindGroupLayoutEntry {
  Extension* next;
  uint32_t binding;
  uint64_t stages;
  uint32_t array_size;
  struct {
    Extension* next;
    uint32_t type, dynamic;
    uint64_t least_bytes;
  } buffer;
  struct {
    Extension* next;
    uint32_t type;
  } sampler;
  struct {
    Extension* next;
    uint32_t type, dimension, multisampled;
  } texture;
  struct {
    Extension* next;
    uint32_t access, format, dimension;
  } storage_texture;
};
struct BindGroupLayoutDescription {
  Extension* next;
  Text label;
  size_t count;
  const BindGroupLayoutEntry* entries;
};
struct BindGroupEntry {
  Extension* next;
  uint32_t binding;
  Buffer buffer;
  uint64_t offset, bytes;
  void* sampler;
  void* texture;
};
struct BindGroupDescription {
  Extension* next;
  Text label;
  BindGroupLayout layout;
  size_t count;
  const BindGroupEntry* entries;
};
struct PipelineLayoutDescription {
  Extension* next;
  Text label;
  size_t count;
  const BindGroupLayout* groups;
  uint32_t immediate_bytes;
};
struct PipelineDescription {
  Extension* next;
  Text label;
  PipelineLayout layout;
  struct {
    Extension* next;
    ShaderModule module;
    Text entry;
    size_t constant_count;
    const void* constants;
  } compute;
};
struct PassDescription {
  Extension* next;
  Text label;
  const void* timestamps;
};

// FUNCTION(name, result, parameters): what every implementation exports, as
// wgpu and the name.
#define RC_WEBGPU_FUNCTIONS(FUNCTION)                                         \
  FUNCTION(CreateInstance, Instance, (const void*))                           \
  FUNCTION(InstanceProcessEvents, void, (Instance))                           \
  FUNCTION(InstanceRequestAdapter, Future,                                    \
           (Instance, const AdapterOptions*, AdapterCallback))                \
  FUNCTION(AdapterGetInfo, uint32_t, (Adapter, AdapterInfo*))                 \
  FUNCTION(AdapterInfoFreeMembers, void, (AdapterInfo))                       \
  FUNCTION(AdapterGetLimits, uint32_t, (Adapter, Limits*))                    \
  FUNCTION(AdapterHasFeature, uint32_t, (Adapter, uint32_t))                  \
  FUNCTION(AdapterRequestDevice, Future,                                      \
           (Adapter, const DeviceDescription*, DeviceCallback))               \
  FUNCTION(AdapterRelease, void, (Adapter))                                   \
  FUNCTION(DeviceGetQueue, Queue, (Device))                                   \
  FUNCTION(DeviceDestroy, void, (Device))                                     \
  FUNCTION(DeviceRelease, void, (Device))                                     \
  FUNCTION(DeviceCreateBuffer, Buffer, (Device, const BufferDescription*))    \
  FUNCTION(DeviceCreateShaderModule, ShaderModule,                            \
           (Device, const Description*))                                      \
  FUNCTION(DeviceCreateBindGroupLayout, BindGroupLayout,                      \
           (Device, const BindGroupLayoutDescription*))                       \
  FUNCTION(DeviceCreateBindGroup, BindGroup,                                  \
           (Device, const BindGroupDescription*))                             \
  FUNCTION(DeviceCreatePipelineLayout, PipelineLayout,                        \
           (Device, const PipelineLayoutDescription*))                        \
  FUNCTION(DeviceCreateComputePipeline, Pipeline,                             \
           (Device, const PipelineDescription*))                              \
  FUNCTION(DeviceCreateCommandEncoder, Encoder, (Device, const Description*)) \
  FUNCTION(QueueRelease, void, (Queue))                                       \
  FUNCTION(QueueSubmit, void, (Queue, size_t, const Commands*))               \
  FUNCTION(QueueWriteBuffer, void,                                            \
           (Queue, Buffer, uint64_t, const void*, size_t))                    \
  FUNCTION(QueueOnSubmittedWorkDone, Future, (Queue, StatusCallback))         \
  FUNCTION(BufferMapAsync, Future,                                            \
           (Buffer, uint64_t, size_t, size_t, StatusCallback))                \
  FUNCTION(BufferGetConstMappedRange, const void*, (Buffer, size_t, size_t))  \
  FUNCTION(BufferUnmap, void, (Buffer))                                       \
  FUNCTION(BufferRelease, void, (Buffer))                                     \
  FUNCTION(ShaderModuleRelease, void, (ShaderModule))                         \
  FUNCTION(BindGroupLayoutRelease, void, (BindGroupLayout))                   \
  FUNCTION(BindGroupRelease, void, (BindGroup))                               \
  FUNCTION(PipelineLayoutRelease, void, (PipelineLayout))                     \
  FUNCTION(ComputePipelineRelease, void, (Pipeline))                          \
  FUNCTION(CommandEncoderBeginComputePass, Pass,                              \
           (Encoder, const PassDescription*))                                 \
  FUNCTION(CommandEncoderCopyBufferToBuffer, void,                            \
           (Encoder, Buffer, uint64_t, Buffer, uint64_t, uint64_t))           \
  FUNCTION(CommandEncoderClearBuffer, void,                                   \
           (Encoder, Buffer, uint64_t, uint64_t))                             \
  FUNCTION(CommandEncoderFinish, Commands, (Encoder, const Description*))     \
  FUNCTION(CommandEncoderRelease, void, (Encoder))                            \
  FUNCTION(CommandBufferRelease, void, (Commands))                            \
  FUNCTION(ComputePassEncoderSetPipeline, void, (Pass, Pipeline))             \
  FUNCTION(ComputePassEncoderSetBindGroup, void,                              \
           (Pass, uint32_t, BindGroup, size_t, const uint32_t*))              \
  FUNCTION(ComputePassEncoderDispatchWorkgroups, void,                        \
           (Pass, uint32_t, uint32_t, uint32_t))                              \
  FUNCTION(ComputePassEncoderEnd, void, (Pass))                               \
  FUNCTION(ComputePassEncoderRelease, void, (Pass))

struct Functions {
#define RC_WEBGPU_MEMBER(name, result, parameters) result(*name) parameters;
  RC_WEBGPU_FUNCTIONS(RC_WEBGPU_MEMBER)
#undef RC_WEBGPU_MEMBER
};

}  // namespace rc::webgpu::abi
