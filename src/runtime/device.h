// An opened device of a plugin, and what lives on it, with C++ lifetimes: every
// object keeps the device alive, destructors give back to the plugin, failures
// are thrown as rc::Error with the plugin's message.
//
// Threads: as in plugin.h. Weights and buffers may be made and dropped on any
// thread; everything else of one device belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runcible/plugin.h"
#include "tensor/dtype.h"

namespace rc::runtime {

struct WeightInfo {
  std::string name;
  DType dtype = RC_DTYPE_F32;
  std::vector<int64_t> shape;  // slowest dimension first
  uint32_t uses = 0;           // RC_USE_*, or-ed
};

struct DeviceOptions {
  int threads = 0;  // 0: the plugin's choice
  bool profile = false;
};

class Weight;
class Buffer;

class Device : public std::enable_shared_from_this<Device> {
 public:
  // Opens a device; the table is the registry's and lives for ever.
  static std::shared_ptr<Device> open(const rc_plugin& plugin, int index,
                                      const DeviceOptions& options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  std::string id() const;  // "cpu:0"
  const rc_plugin& plugin() const { return plugin_; }
  rc_plugin_device* handle() const { return handle_; }
  // Asked anew at each call: free memory changes.
  rc_plugin_device_info info() const;

  uint64_t weight_bytes(const WeightInfo& info) const;
  std::shared_ptr<Weight> create_weight(const WeightInfo& info,
                                        const void* data);
  std::shared_ptr<Buffer> create_buffer(uint64_t bytes);

 private:
  Device(const rc_plugin& plugin, int index) : plugin_(plugin), index_(index) {}
  const rc_plugin& plugin_;
  int index_;
  rc_plugin_device* handle_ = nullptr;
};

class Weight {
 public:
  Weight(std::shared_ptr<Device> device, rc_plugin_weight* handle)
      : device_(std::move(device)), handle_(handle) {}
  ~Weight();
  Weight(const Weight&) = delete;
  Weight& operator=(const Weight&) = delete;
  rc_plugin_weight* handle() const { return handle_; }

 private:
  std::shared_ptr<Device> device_;
  rc_plugin_weight* handle_;
};

// Plain device memory, zero at first.
class Buffer {
 public:
  Buffer(std::shared_ptr<Device> device, rc_plugin_buffer* handle,
         uint64_t bytes)
      : device_(std::move(device)), handle_(handle), bytes_(bytes) {}
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  rc_plugin_buffer* handle() const { return handle_; }
  uint64_t bytes() const { return bytes_; }
  void upload(uint64_t offset, const void* data, uint64_t bytes);
  void download(uint64_t offset, void* data, uint64_t bytes) const;
  // Within this buffer; the ranges do not overlap.
  void copy(uint64_t target_offset, uint64_t source_offset, uint64_t bytes);

 private:
  std::shared_ptr<Device> device_;
  rc_plugin_buffer* handle_;
  uint64_t bytes_;
};

// Throws the failure that a plugin function reported: the device, what was
// being done, and the plugin's message.
void check(const Device& device, const char* what, rc_status status,
           const char* message);

}  // namespace rc::runtime
