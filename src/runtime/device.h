// An opened device of a plugin, and what lives on it, with C++ lifetimes: every
// object keeps the device alive, destructors give back to the plugin, failures
// are thrown as rc::Error with the plugin's message.
//
// Threads: any. What plugin.h allows on one thread at a time only (moving
// bytes, compiling, running) waits for its turn (turn_queue.h).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/deep_stack.h"
#include "runcible/plugin.h"
#include "runtime/turn_queue.h"
#include "tensor/dtype.h"
#include "tensor/op.h"

namespace rc::runtime {

struct WeightInfo {
  std::string name;
  DType dtype = RC_DTYPE_F32;
  std::vector<int64_t> shape;  // slowest dimension first
  uint32_t uses = 0;           // RC_USE_*, or-ed
};

// The name and the shape for the plugin; valid as long as the info. Throws
// RC_E_INVALID_ARGUMENT for a rank that is not 1 to RC_PLUGIN_MAX_RANK.
rc_plugin_weight_info plugin_info(const WeightInfo& info);

// Memory for a plugin's message. It is ours: whatever the plugin wrote there,
// text() ends within it.
class Message {
 public:
  char* buffer() { return text_.data(); }
  const char* text() {
    text_[RC_PLUGIN_MESSAGE_BYTES - 1] = '\0';
    return text_.data();
  }

 private:
  std::array<char, RC_PLUGIN_MESSAGE_BYTES> text_ = {};
};

// Returns a plugin's description of one of its devices, with terminated strings
// and a valid kind. Throws the plugin's error.
rc_plugin_device_info device_info(const rc_plugin& plugin, int index);

struct DeviceOptions {
  int threads = 0;  // 0: the plugin's choice
  bool profile = false;
  rc_numa numa = RC_NUMA_AUTO;  // which open_device decides
};

// Resolves RC_NUMA_AUTO for a device with `nodes` NUMA nodes.
rc_numa numa_on(rc_numa numa, int32_t nodes);
// "off", "interleave", "local"; else "auto".
const char* numa_name(rc_numa numa);

class Weight;
class Buffer;
class Profile;
class SelfTest;

class Device : public std::enable_shared_from_this<Device> {
 public:
  // Opens a device; the table is the registry's and lives for ever.
  static std::shared_ptr<Device> open(const rc_plugin& plugin, int index,
                                      const DeviceOptions& options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  std::string id() const;  // "cpu:0"
  int index() const { return index_; }
  const DeviceOptions& options() const { return options_; }
  // nullptr unless opened with options.profile.
  const std::shared_ptr<Profile>& profile() const { return profile_; }
  const rc_plugin& plugin() const { return plugin_; }
  rc_plugin_device* handle() const { return handle_; }
  // Queried at each call: free memory changes.
  rc_plugin_device_info info() const;

  // As of rc_plugin_device_info, asked for once.
  uint64_t huge_page_bytes() const;
  uint64_t weight_bytes(const WeightInfo& info) const;
  std::shared_ptr<Weight> create_weight(const WeightInfo& info,
                                        const void* data);
  // Whether weights may stay where they are; of any use but RC_USE_ELEMENTS.
  bool maps_weights() const { return plugin_.map_weight != nullptr; }
  // Whether there may be copies of some experts of such a weight.
  bool keeps_experts() const { return plugin_.map_experts != nullptr; }
  // A weight that stays at `data`, which `owner` keeps alive and unchanged.
  // `resident`: of how many experts there are copies; 0: of none.
  std::shared_ptr<Weight> map_weight(const WeightInfo& info, const void* data,
                                     std::shared_ptr<const void> owner,
                                     int64_t resident = 0);
  std::shared_ptr<Buffer> create_buffer(uint64_t bytes);
  // A buffer of memory of the host's, which `owner` keeps. Throws
  // RC_E_UNSUPPORTED if the device cannot.
  std::shared_ptr<Buffer> borrow_buffer(void* data, uint64_t bytes,
                                        std::shared_ptr<const void> owner);

  // Whether run_op is worth asking: the device has it, and neither are its
  // kernels tested nor its runs measured.
  bool runs_ops() const {
    return plugin_.run_op != nullptr && self_test_ == nullptr &&
           profile_ == nullptr;
  }
  // Does a tensor op whose values lie in the buffers of their numbers, or fails
  // because it does not obey check_op; false: it is quicker to compile it.
  // `spent_ns` gets the time that it has worked added.
  bool run_op(const Op& op, std::span<const rc_plugin_value> values,
              rc_plugin_buffer* const* buffers, int64_t& spent_ns) const;

  // Kernels are tested with this from now on. To be called before anything is
  // asked of the device.
  void test_with(std::unique_ptr<SelfTest> test);
  bool tests_kernels() const { return self_test_ != nullptr; }
  SelfTest* self_test() const { return self_test_.get(); }

  // RC_OK, or why the device cannot compile the op; RC_E_UNSUPPORTED too if its
  // kernels fail their self-test, which is done here, at the first of a kind.
  rc_status op_supported(const Op& op, const rc_plugin_value* values,
                         Message& message) const;

  // Calls what may compile. Drivers do that, on a stack that is deep enough.
  template <class Function>
  rc_status call_compiler(const Function& function) const {
    return built_in_ ? function() : on_deep_stack(function);
  }

  // Kernels of custom ops (device_kernels.cc): RC_KERNEL_*.
  int32_t kernel_language() const;
  // Compiles one, which stays until it is destroyed or the device is. Throws
  // RC_E_FORMAT, with all that the compiler says, if it does not compile.
  rc_plugin_kernel* create_kernel(rc_plugin_kernel_info info);
  void destroy_kernel(rc_plugin_kernel* kernel) noexcept;
  // Runs it and waits for its end. timeout_ms: negative is no limit; `spent_ns`
  // gets the time that it has worked added.
  void run_kernel(rc_plugin_kernel* kernel, rc_plugin_kernel_run run,
                  int64_t timeout_ms, int64_t& spent_ns);
  // Calls function(user, begin, end) for ranges of 0 to `count`, on threads of
  // the device if it has some. The function throws nothing.
  void run_ranges(int64_t count,
                  void (*function)(void* user, int64_t begin, int64_t end),
                  void* user, int64_t& spent_ns);

  // Held while the device works for one thread. `paid` is to outlive it. Throws
  // RC_E_DEVICE_LOST if the device has been abandoned.
  TurnQueue::Turn turn(std::span<const PaidPart> paid = {}) const;

  // Whether it said to be a GPU when it was opened; a software device does not.
  bool is_gpu() const { return is_gpu_; }
  // Counts the time that the device has worked, in turns: runs of programs, ops
  // and kernels. Any thread.
  void add_work(int64_t ns) const noexcept {
    worked_ns_.fetch_add(ns, std::memory_order_relaxed);
  }
  int64_t worked_ns() const noexcept { return worked_ns_.load(); }

  // The device reported RC_E_DEVICE_LOST or was abandoned; open it again.
  bool lost() const { return lost_; }
  // A run does not end. From now on nothing of the device is touched, not even
  // to give it back, because the run may still use it.
  void abandon() { lost_ = abandoned_ = true; }
  bool abandoned() const { return abandoned_; }

 private:
  friend void check(const Device& device, const char* what, rc_status status,
                    Message& message);
  // function(&handle, message) makes the buffer.
  template <class Function>
  std::shared_ptr<Buffer> make_buffer(const char* verb, uint64_t bytes,
                                      const Function& function);
  // function(&handle, message) makes the weight.
  template <class Function>
  std::shared_ptr<Weight> make_weight(const std::string& what,
                                      const WeightInfo& info,
                                      const Function& function);
  Device(const rc_plugin& plugin, int index, const DeviceOptions& options);
  void check_not_abandoned() const;
  // Whether the plugin is new enough for the types of the op.
  bool knows_numbers(const Op& op, const rc_plugin_value* values) const;
  void destroy_kernels() noexcept;
  const rc_plugin& plugin_;
  int index_;
  DeviceOptions options_;
  const bool built_in_;
  bool is_gpu_ = false;
  std::shared_ptr<Profile> profile_;
  rc_plugin_device* handle_ = nullptr;
  std::unique_ptr<SelfTest> self_test_;  // nullptr: everything is believed
  mutable TurnQueue turns_;
  mutable std::atomic<int64_t> worked_ns_{0};
  std::set<rc_plugin_kernel*> kernels_;                         // in turns
  mutable std::atomic<uint64_t> huge_page_bytes_ = UINT64_MAX;  // not asked yet
  // The op that run_op did last, in a turn: what small ones take is looked
  // up at every eighth of the same kind, for looking takes a part of it.
  struct Done {
    int32_t code = 0;
    int32_t function = 0;
    uint64_t elements = 0;
    int64_t ns = 0;
    int again = 0;  // so often it may be taken for what it was
  };
  mutable Done done_;
  mutable std::atomic<bool> lost_ = false;
  std::atomic<bool> abandoned_ = false;
};

class Weight {
 public:
  explicit Weight(std::shared_ptr<Device> device)
      : device_(std::move(device)) {}
  ~Weight();
  Weight(const Weight&) = delete;
  Weight& operator=(const Weight&) = delete;
  rc_plugin_weight* handle() const { return handle_; }

 private:
  friend class Device;
  std::shared_ptr<Device> device_;
  rc_plugin_weight* handle_ = nullptr;
  // Of what the device reads elsewhere; nullptr if it has a copy.
  std::unique_ptr<std::shared_ptr<const void>> owner_;
};

// Plain device memory, zero at first.
class Buffer {
 public:
  Buffer(std::shared_ptr<Device> device, uint64_t bytes)
      : device_(std::move(device)), bytes_(bytes) {}
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  rc_plugin_buffer* handle() const { return handle_; }
  uint64_t bytes() const { return bytes_; }
  const Device& device() const { return *device_; }
  void upload(uint64_t offset, const void* data, uint64_t bytes);
  void download(uint64_t offset, void* data, uint64_t bytes) const;
  // The bytes in memory of the host's. Throws RC_E_UNSUPPORTED if they are not
  // there.
  std::byte* memory() const;
  // Within this buffer; the ranges do not overlap.
  void copy(uint64_t target_offset, uint64_t source_offset, uint64_t bytes) {
    copy_from(*this, target_offset, source_offset, bytes);
  }
  // From a buffer of any device: on the device itself if it is one, else
  // through the host's memory.
  void copy_from(const Buffer& source, uint64_t target_offset,
                 uint64_t source_offset, uint64_t bytes);

 private:
  friend class Device;
  void check_range(uint64_t offset, uint64_t bytes) const;
  std::shared_ptr<Device> device_;
  rc_plugin_buffer* handle_ = nullptr;
  uint64_t bytes_;
  // Of memory that was borrowed; else nullptr.
  std::unique_ptr<std::shared_ptr<const void>> owner_;
};

// Keeps for ever what an abandoned device may still use. It stays reachable, so
// that leak checkers distinguish it from what was lost.
void leak_deliberately(const void* memory) noexcept;

// Throws the failure that a plugin function reported: the device, what was
// being done, and the plugin's message. A status that is none becomes
// RC_E_DEVICE.
void check(const Device& device, const char* what, rc_status status,
           Message& message);

}  // namespace rc::runtime
