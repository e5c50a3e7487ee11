#include "runtime/op_backend.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "runtime/plugin_list.h"

namespace rc::runtime {
namespace op_backends {
namespace {

// The functions of a plugin that come before a device is opened get nothing but
// a number, so each backend has separate functions: as many as there are slots.
// A name keeps its slot, so that a holder of an entry of a removed backend gets
// the next one of the same name, or none.
constexpr size_t kSlots = 64;

struct Slot {
  std::string name;
  std::shared_ptr<OpBackend> backend;  // nullptr: gone
};

struct Slots {
  std::mutex mutex;
  std::array<Slot, kSlots> slots;
};

// Never destroyed: backends may be asked for while the process ends.
Slots& slots() {
  static auto* const all = new Slots;
  return *all;
}

rc_status say(char* message, rc_status status, const char* text) {
  std::snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "%s", text);
  return status;
}

std::shared_ptr<OpBackend> backend_in(size_t slot) {
  Slots& all = slots();
  const std::lock_guard lock(all.mutex);
  return all.slots[slot].backend;
}

rc_status gone(char* message) {
  return say(message, RC_E_BACKEND_UNAVAILABLE,
             "the backend has been unregistered");
}

template <size_t slot>
rc_status device_count(int32_t* count, char* message) {
  *count = 0;
  const auto backend = backend_in(slot);
  if (backend == nullptr) return gone(message);
  const rc_status status = backend->ask_health(message);
  if (status == RC_OK) *count = 1;
  return status;
}

template <size_t slot>
rc_status device_info(int32_t, rc_plugin_device_info* info, char* message) {
  const auto backend = backend_in(slot);
  if (backend == nullptr) return gone(message);
  backend->describe(*info);
  return RC_OK;
}

template <size_t slot>
rc_status open_in(int32_t, const rc_plugin_open_options*,
                  rc_plugin_device** device, char* message) {
  auto backend = backend_in(slot);
  if (backend == nullptr) return gone(message);
  return open(std::move(backend), device, message);
}

struct SlotFunctions {
  decltype(rc_plugin::device_count) count;
  decltype(rc_plugin::device_info) info;
  decltype(rc_plugin::open) open;
};

template <size_t... slot>
constexpr auto functions_of(std::index_sequence<slot...>) {
  return std::array{
      SlotFunctions{device_count<slot>, device_info<slot>, open_in<slot>}...};
}
constexpr auto kFunctions = functions_of(std::make_index_sequence<kSlots>());

std::string text_or(const char* text, std::string_view otherwise) {
  return std::string(text == nullptr ? otherwise : text);
}

}  // namespace
}  // namespace op_backends

OpBackend::OpBackend(const rc_op_backend& given)
    : functions_(given),
      name_(op_backends::text_or(given.name, "")),
      description_(op_backends::text_or(given.description, "")),
      device_name_(op_backends::text_or(given.device_name, name_)),
      features_(op_backends::text_or(given.features, "")) {}

OpBackend::~OpBackend() {
  if (!accepted_ || functions_.release == nullptr) return;
  try {
    functions_.release(functions_.user);
  } catch (...) {
    // It is gone all the same, and there is no caller to report to.
  }
}

rc_status OpBackend::ask_health(char* message) {
  if (functions_.health == nullptr) return RC_OK;
  rc_status status = RC_E_DEVICE;
  try {
    status = functions_.health(functions_.user, message);
    message[RC_PLUGIN_MESSAGE_BYTES - 1] = '\0';
    const std::lock_guard lock(mutex_);
    said_ = status == RC_OK ? message : "";
  } catch (...) {
    return op_backends::say(message, RC_E_DEVICE,
                            "its health threw an exception");
  }
  if (status != RC_OK && *message == '\0') {
    op_backends::say(message, status, "it is not well, and does not say why");
  }
  return status;
}

void OpBackend::describe(rc_plugin_device_info& info) const {
  const std::lock_guard lock(mutex_);
  std::snprintf(info.name, sizeof info.name, "%s", device_name_.c_str());
  std::snprintf(info.features, sizeof info.features, "%s", features_.c_str());
  std::snprintf(info.driver, sizeof info.driver, "%s", said_.c_str());
  info.kind = RC_DEVICE_SOFTWARE;
  info.unified_memory = 1;
}

void register_op_backend(const rc_op_backend& given) {
  using namespace op_backends;
  if (given.supports == nullptr || given.compute == nullptr) {
    fail(RC_E_INVALID_ARGUMENT, "backend: the function ",
         given.supports == nullptr ? "supports" : "compute", " is missing");
  }
  auto backend = std::make_shared<OpBackend>(given);
  Slots& all = slots();
  // Held to the end: two who register the same name come one after the other.
  const std::lock_guard lock(all.mutex);
  auto found = std::find_if(
      all.slots.begin(), all.slots.end(),
      [&](const Slot& slot) { return slot.name == backend->name(); });
  if (backend->name().empty() || found == all.slots.end()) {
    found = std::find_if(all.slots.begin(), all.slots.end(),
                         [](const Slot& slot) { return slot.name.empty(); });
  }
  if (found == all.slots.end()) {
    fail(RC_E_UNSUPPORTED, "backends of ", kSlots,
         " different names have been registered in this process; register ",
         backend->name(), " by one of these names");
  }
  const SlotFunctions& functions =
      kFunctions[static_cast<size_t>(found - all.slots.begin())];
  rc_plugin table = op_backends::table();
  table.name = backend->name().c_str();
  table.description = backend->description().c_str();
  table.device_count = functions.count;
  table.device_info = functions.info;
  table.open = functions.open;
  std::string name = backend->name();
  // Another thread that finds it there waits for the lock.
  PluginList::instance().add(table, false, "");
  found->name.swap(name);
  backend->accept();
  found->backend = std::move(backend);
}

void unregister_op_backend(std::string_view name) {
  using namespace op_backends;
  std::shared_ptr<OpBackend> last;  // its `release` is called without the lock
  Slots& all = slots();
  const std::lock_guard lock(all.mutex);
  for (Slot& slot : all.slots) {
    if (slot.backend == nullptr || slot.name != name) continue;
    PluginList::instance().remove(name);
    last = std::move(slot.backend);
    slot.backend = nullptr;
    return;
  }
  fail(RC_E_NOT_FOUND, "no backend called ", name, " is registered by ",
       "rc_op_backend_register");
}

}  // namespace rc::runtime
