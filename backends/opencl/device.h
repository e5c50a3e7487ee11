// An opened device.
//
// Runs and transfers are in queues of their own, so that weights can be
// created and destroyed from any thread at any time.
#pragma once

#include <cstdint>

#include "opencl/api.h"
#include "opencl/library.h"
#include "opencl/tuning.h"
#include "runcible/plugin.h"

namespace rc::opencl {

class Device {
 public:
  Device(cl_device_id id, const rc_plugin_open_options& options);

  cl_context context() const { return context_.get(); }
  cl_command_queue queue() const { return queue_.get(); }
  const Tuning& tuning() const { return tuning_; }
  Library& library() { return library_; }
  bool unified() const { return unified_; }
  bool doubles() const { return doubles_; }
  bool profile() const { return profile_; }
  // Bytes that a buffer may have.
  uint64_t largest_allocation() const;

  // Zeroed if asked for. Throws RC_E_DEVICE_MEMORY. A buffer of 0 bytes has 1.
  Memory allocate(uint64_t bytes, bool zeroed) const;
  // Complete when they return.
  void write(cl_mem memory, uint64_t offset, const void* data,
             uint64_t bytes) const;
  void read(cl_mem memory, uint64_t offset, void* data, uint64_t bytes) const;
  void copy(cl_mem target, uint64_t target_offset, cl_mem source,
            uint64_t source_offset, uint64_t bytes) const;

 private:
  Queue make_queue(cl_command_queue_properties properties) const;

  cl_device_id id_;
  Tuning tuning_;
  bool unified_;
  bool doubles_;
  bool profile_;
  uint64_t largest_allocation_;
  Context context_;
  Queue queue_;
  Queue transfers_;
  Library library_;
};

}  // namespace rc::opencl
