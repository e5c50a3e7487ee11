#include "runtime/host_memory.h"

#include <cstdio>
#include <cstring>
#include <limits>
#include <new>

#include "base/checked.h"
#include "tensor/dtype.h"

namespace rc::runtime {
namespace {

constexpr std::align_val_t kAlignment{64};

rc_status out_of_memory(uint64_t bytes, char* message) {
  std::snprintf(message, RC_PLUGIN_MESSAGE_BYTES,
                "there is no memory for %llu bytes",
                static_cast<unsigned long long>(bytes));
  return RC_E_OUT_OF_MEMORY;
}

void* allocate(uint64_t bytes) {
  if (bytes > std::numeric_limits<size_t>::max() / 2) return nullptr;
  // An empty block has a unique address, too.
  return ::operator new(static_cast<size_t>(bytes > 0 ? bytes : 1), kAlignment,
                        std::nothrow);
}

void release(void* memory) { ::operator delete(memory, kAlignment); }

rc_status weight_bytes(rc_plugin_device*, const rc_plugin_weight_info* info,
                       uint64_t* bytes, char* message) {
  auto total = row_bytes(info->dtype, info->shape[info->rank - 1]);
  for (int i = 0; i + 1 < info->rank && total; ++i) {
    total = checked_mul(*total, static_cast<uint64_t>(info->shape[i]));
  }
  if (!total) {
    std::snprintf(message, RC_PLUGIN_MESSAGE_BYTES,
                  "its type and shape are impossible");
    return RC_E_INVALID_ARGUMENT;
  }
  *bytes = *total;
  return RC_OK;
}

rc_status create_weight(rc_plugin_device* device,
                        const rc_plugin_weight_info* info, const void* data,
                        rc_plugin_weight** weight, char* message) {
  uint64_t bytes = 0;
  const rc_status status = weight_bytes(device, info, &bytes, message);
  if (status != RC_OK) return status;
  void* memory = allocate(bytes);
  if (memory == nullptr) return out_of_memory(bytes, message);
  std::memcpy(memory, data, static_cast<size_t>(bytes));
  *weight = static_cast<rc_plugin_weight*>(memory);
  return RC_OK;
}

void destroy_weight(rc_plugin_device*, rc_plugin_weight* weight) {
  release(weight);
}

rc_status create_buffer(rc_plugin_device*, uint64_t bytes,
                        rc_plugin_buffer** buffer, char* message) {
  void* memory = allocate(bytes);
  if (memory == nullptr) return out_of_memory(bytes, message);
  std::memset(memory, 0, static_cast<size_t>(bytes));
  *buffer = static_cast<rc_plugin_buffer*>(memory);
  return RC_OK;
}

void destroy_buffer(rc_plugin_device*, rc_plugin_buffer* buffer) {
  release(buffer);
}

char* bytes_of(rc_plugin_buffer* buffer) {
  return reinterpret_cast<char*>(buffer);
}

rc_status upload(rc_plugin_device*, rc_plugin_buffer* buffer, uint64_t offset,
                 const void* data, uint64_t bytes, char*) {
  if (bytes > 0) {
    std::memcpy(bytes_of(buffer) + offset, data, static_cast<size_t>(bytes));
  }
  return RC_OK;
}

rc_status download(rc_plugin_device*, rc_plugin_buffer* buffer, uint64_t offset,
                   void* data, uint64_t bytes, char*) {
  if (bytes > 0) {
    std::memcpy(data, bytes_of(buffer) + offset, static_cast<size_t>(bytes));
  }
  return RC_OK;
}

rc_status buffer_memory(rc_plugin_device*, rc_plugin_buffer* buffer,
                        void** data, char*) {
  *data = buffer;
  return RC_OK;
}

rc_status wait(rc_plugin_device*, int64_t, char*) { return RC_OK; }

}  // namespace

void complete_with_host_memory(rc_plugin& plugin) {
  if (plugin.weight_bytes == nullptr && plugin.create_weight == nullptr &&
      plugin.destroy_weight == nullptr && plugin.create_buffer == nullptr &&
      plugin.destroy_buffer == nullptr && plugin.upload == nullptr &&
      plugin.download == nullptr && plugin.map_weight == nullptr &&
      plugin.map_experts == nullptr) {
    plugin.weight_bytes = weight_bytes;
    plugin.create_weight = create_weight;
    plugin.destroy_weight = destroy_weight;
    plugin.create_buffer = create_buffer;
    plugin.destroy_buffer = destroy_buffer;
    plugin.upload = upload;
    plugin.download = download;
    if (plugin.borrow_buffer == nullptr) plugin.buffer_memory = buffer_memory;
  }
  if (plugin.wait == nullptr) plugin.wait = wait;
}

}  // namespace rc::runtime
