#include "runtime/device.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "runtime/closing.h"
#include "runtime/device_order.h"
#include "runtime/plugin_list.h"
#include "runtime/profile.h"
#include "runtime/quietly.h"
#include "runtime/self_test.h"

namespace rc::runtime {
namespace {

// Of the plugin ABI: from it on ops of tensors have numbers of other types than
// F32.
constexpr uint32_t kOtherNumbers = 4;

// Ops of at most so many elements, with those of operands, are small, and the
// time of one is taken for that of as many that follow.
constexpr uint64_t kSmall = 4096;
constexpr int kTimesTaken = 7;

uint64_t elements_of(const rc_plugin_value& value) {
  uint64_t count = 1;
  for (int i = 0; i < value.rank; ++i) {
    count *= static_cast<uint64_t>(value.shape[i]);
  }
  return count;
}

// The last one of base.h.
constexpr rc_status kLastStatus = RC_E_INTERNAL;

rc_status known_status(rc_status status) {
  return status <= RC_OK && status >= kLastStatus ? status : RC_E_DEVICE;
}

template <size_t size>
void terminate(char (&text)[size]) {
  text[size - 1] = '\0';
}

}  // namespace

rc_plugin_weight_info plugin_info(const WeightInfo& info) {
  if (info.shape.empty() || info.shape.size() > RC_PLUGIN_MAX_RANK) {
    fail(RC_E_INVALID_ARGUMENT, "weight ", info.name, " has rank ",
         info.shape.size(), "; 1 to ", RC_PLUGIN_MAX_RANK, " are possible");
  }
  rc_plugin_weight_info result = {};
  result.name = info.name.c_str();
  result.dtype = info.dtype;
  result.rank = static_cast<int32_t>(info.shape.size());
  std::copy(info.shape.begin(), info.shape.end(), result.shape);
  result.uses = info.uses;
  return result;
}

rc_plugin_device_info device_info(const rc_plugin& plugin, int index) {
  rc_plugin_device_info info = {};
  info.struct_size = sizeof info;
  Message message;
  const rc_status status = plugin.device_info(index, &info, message.buffer());
  if (status != RC_OK) {
    fail(known_status(status), plugin.name, ":", index,
         ": cannot describe the device: ", message.text());
  }
  info.struct_size = sizeof info;
  terminate(info.name);
  terminate(info.features);
  terminate(info.driver);
  terminate(info.physical_id);
  if (info.numa_nodes < 0) info.numa_nodes = 0;
  if (info.huge_pages < RC_HUGE_PAGES_UNKNOWN ||
      info.huge_pages > RC_HUGE_PAGES_ALWAYS) {
    info.huge_pages = RC_HUGE_PAGES_UNKNOWN;
  }
  if (info.kind < RC_DEVICE_OTHER || info.kind > RC_DEVICE_SOFTWARE) {
    info.kind = RC_DEVICE_OTHER;
  }
  return info;
}

namespace {

bool is_of_module(const rc_plugin& plugin) {
  const PluginEntry* entry = PluginList::instance().entry_of(plugin);
  return entry != nullptr && !entry->path.empty();
}

}  // namespace

rc_numa numa_on(rc_numa numa, int32_t nodes) {
  if (nodes < 2) return RC_NUMA_OFF;
  return numa == RC_NUMA_AUTO ? RC_NUMA_INTERLEAVE : numa;
}

const char* numa_name(rc_numa numa) {
  switch (numa) {
    case RC_NUMA_OFF:
      return "off";
    case RC_NUMA_INTERLEAVE:
      return "interleave";
    case RC_NUMA_LOCAL:
      return "local";
  }
  return "auto";
}

void check(const Device& device, const char* what, rc_status status,
           Message& message) {
  if (status == RC_OK) return;
  const rc_status known = known_status(status);
  if (known == RC_E_DEVICE_LOST) device.lost_ = true;
  const std::string number =
      known == status ? "" : cat(" (status ", status, ")");
  fail(known, device.id(), ": cannot ", what, number, ": ", message.text());
}

Device::Device(const rc_plugin& plugin, int index, const DeviceOptions& options)
    : plugin_(plugin),
      index_(index),
      options_(options),
      built_in_(PluginList::instance().is_built_in(plugin)) {}

std::shared_ptr<Device> Device::open(const rc_plugin& plugin, int index,
                                     const DeviceOptions& options) {
  if (is_of_module(plugin)) finish_closing(plugin);
  std::shared_ptr<Device> device(new Device(plugin, index, options));
  device->is_gpu_ = runtime::is_gpu(device->info());
  rc_plugin_open_options given = {};
  given.struct_size = sizeof given;
  given.threads = options.threads;
  given.profile = options.profile ? 1 : 0;
  given.log = log_message;
  given.abi_version = RC_PLUGIN_ABI_VERSION;
  given.numa = options.numa == RC_NUMA_AUTO ? RC_NUMA_OFF : options.numa;
  // The plugin's value is used only after a success.
  rc_plugin_device* handle = nullptr;
  Message message;
  check(*device, "open the device",
        plugin.open(index, &given, &handle, message.buffer()), message);
  device->handle_ = handle;
  if (options.profile) device->profile_ = Profile::create(device->id());
  if (device->handle_ == nullptr) {
    fail(RC_E_DEVICE, device->id(),
         ": the plugin reported success, but gave no device");
  }
  return device;
}

void leak_deliberately(const void* memory) noexcept {
  static std::mutex mutex;
  try {
    static auto* graveyard = new std::vector<const void*>;
    const std::lock_guard lock(mutex);
    graveyard->push_back(memory);
  } catch (...) {
    // Out of memory: then nothing points to it, and it stays all the same.
  }
}

Device::~Device() {
  if (handle_ == nullptr) return;
  if (abandoned_) {
    leak_deliberately(handle_);
    return;
  }
  destroy_kernels();
  // Drivers take their time, and threads of a device end when they get a
  // processor. What the host has registered calls it back.
  if (built_in_ || is_of_module(plugin_)) {
    close_device(plugin_, handle_);
  } else {
    close_device_here(plugin_, handle_);
  }
}

std::string Device::id() const { return cat(plugin_.name, ":", index_); }

rc_plugin_device_info Device::info() const {
  return device_info(plugin_, index_);
}

uint64_t Device::huge_page_bytes() const {
  if (huge_page_bytes_ == UINT64_MAX) {
    huge_page_bytes_ = info().huge_page_bytes;
  }
  return huge_page_bytes_;
}

void Device::check_not_abandoned() const {
  if (!abandoned_) return;
  fail(RC_E_DEVICE_LOST, id(),
       ": a run did not end; close everything on the device and open it again");
}

TurnQueue::Turn Device::turn(std::span<const PaidPart> paid) const {
  TurnQueue::Turn mine = turns_.take(paid);
  check_not_abandoned();
  return mine;
}

uint64_t Device::weight_bytes(const WeightInfo& info) const {
  const rc_plugin_weight_info given = plugin_info(info);
  check_not_abandoned();
  uint64_t bytes = 0;
  Message message;
  check(*this, ("say how large weight " + info.name + " is").c_str(),
        plugin_.weight_bytes(handle_, &given, &bytes, message.buffer()),
        message);
  return bytes;
}

template <class Function>
std::shared_ptr<Weight> Device::make_weight(const std::string& what,
                                            const WeightInfo& info,
                                            const Function& function) {
  check_not_abandoned();
  // Made before the handle, so that nothing can fail after it.
  auto weight = std::make_shared<Weight>(shared_from_this());
  rc_plugin_weight* handle = nullptr;
  Message message;
  check(*this, what.c_str(),
        call_compiler([&] { return function(&handle, message.buffer()); }),
        message);
  weight->handle_ = handle;
  if (weight->handle_ == nullptr) {
    fail(RC_E_DEVICE, id(), ": the plugin gave no handle for weight ",
         info.name);
  }
  return weight;
}

std::shared_ptr<Weight> Device::create_weight(const WeightInfo& info,
                                              const void* data) {
  const rc_plugin_weight_info given = plugin_info(info);
  return make_weight("create weight " + info.name, info,
                     [&](rc_plugin_weight** weight, char* message) {
                       return plugin_.create_weight(handle_, &given, data,
                                                    weight, message);
                     });
}

std::shared_ptr<Weight> Device::map_weight(const WeightInfo& info,
                                           const void* data,
                                           std::shared_ptr<const void> owner,
                                           int64_t resident) {
  const rc_plugin_weight_info given = plugin_info(info);
  auto kept = std::make_unique<std::shared_ptr<const void>>(std::move(owner));
  auto weight = make_weight(
      "use weight " + info.name + " in place", info,
      [&](rc_plugin_weight** made, char* message) {
        return resident > 0
                   ? plugin_.map_experts(handle_, &given, data, resident, made,
                                         message)
                   : plugin_.map_weight(handle_, &given, data, made, message);
      });
  weight->owner_ = std::move(kept);
  return weight;
}

Weight::~Weight() {
  if (handle_ == nullptr) return;
  if (device_->abandoned()) {
    leak_deliberately(handle_);
    leak_deliberately(owner_.release());
    return;
  }
  quietly("giving something back", [&] {
    device_->plugin().destroy_weight(device_->handle(), handle_);
  });
}

rc_status Device::op_supported(const Op& op, const rc_plugin_value* values,
                               Message& message) const {
  if (!knows_numbers(op, values)) {
    std::snprintf(message.buffer(), RC_PLUGIN_MESSAGE_BYTES,
                  "a plugin of version %u of the plugin ABI has tensors of F32 "
                  "alone; from version %u on they have other types",
                  plugin_.abi_version, kOtherNumbers);
    return RC_E_UNSUPPORTED;
  }
  // The op with its own values alone.
  Op own = op;
  const rc_plugin_value* own_values[kMaxInputs + kMaxOutputs];
  int32_t count = 0;
  const auto number = [&](int32_t& value) {
    if (value < 0) return;
    own_values[count] = &values[value];
    value = count++;
  };
  for (int32_t& input : own.inputs) number(input);
  for (int32_t& output : own.outputs) number(output);
  const rc_plugin_op given = plugin_op(own);
  const rc_status status = known_status(
      plugin_.op_supported(handle_, &given, own_values,
                           static_cast<size_t>(count), message.buffer()));
  if (status != RC_OK || self_test_ == nullptr) return status;
  const std::string reason = self_test_->of_op(op, values);
  if (reason.empty()) return RC_OK;
  std::snprintf(message.buffer(), RC_PLUGIN_MESSAGE_BYTES, "%s",
                reason.c_str());
  return RC_E_UNSUPPORTED;
}

bool Device::knows_numbers(const Op& op, const rc_plugin_value* values) const {
  return plugin_.abi_version >= kOtherNumbers || !has_other_numbers(op, values);
}

bool Device::run_op(const Op& op, std::span<const rc_plugin_value> values,
                    rc_plugin_buffer* const* buffers, int64_t& spent_ns) const {
  if (!knows_numbers(op, values.data())) return false;
  const rc_plugin_value* pointers[kMaxInputs + kMaxOutputs];
  for (size_t i = 0; i < values.size(); ++i) pointers[i] = &values[i];
  const rc_plugin_op given = plugin_op(op);
  using Clock = std::chrono::steady_clock;
  uint64_t elements = 0;
  for (const rc_plugin_value& value : values) elements += elements_of(value);
  int32_t function = 0;  // of those that have one, the first parameter
  std::memcpy(&function, &op.params, sizeof function);
  const auto mine = turn();
  const bool known = done_.again > 0 && done_.code == op.code &&
                     done_.function == function && done_.elements == elements;
  const Clock::time_point start = known ? Clock::time_point() : Clock::now();
  Message message;
  const rc_status status = plugin_.run_op(handle_, &given, pointers, buffers,
                                          values.size(), message.buffer());
  if (status == RC_E_UNSUPPORTED) return false;
  check(*this, "do an op", status, message);
  if (known) {
    --done_.again;
  } else {
    done_ = {op.code, function, elements,
             std::chrono::nanoseconds(Clock::now() - start).count(),
             elements <= kSmall ? kTimesTaken : 0};
  }
  add_work(done_.ns);
  spent_ns += done_.ns;
  return true;
}

void Device::test_with(std::unique_ptr<SelfTest> test) {
  self_test_ = std::move(test);
}

}  // namespace rc::runtime
