#include "runtime/device_chain.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/quote.h"
#include "runtime/backend_spec.h"
#include "runtime/registry.h"

namespace rc::runtime {
namespace {

// Where ops run that no other device supports.
constexpr const char* kCpu = "cpu:0";

bool same_hardware(const Device& a, const Device& b) {
  const rc_plugin_device_info info = a.info();
  return info.physical_id[0] != '\0' &&
         std::string_view(info.physical_id) == b.info().physical_id;
}

}  // namespace

DeviceChain::DeviceChain(std::shared_ptr<Device> first)
    : DeviceChain(std::move(first), {}, false) {}

DeviceChain::DeviceChain(std::shared_ptr<Device> first,
                         std::vector<std::string> next, bool strict,
                         std::vector<SpecItem> allowed)
    : first_(std::move(first)),
      next_(std::move(next)),
      strict_(strict),
      allowed_(std::move(allowed)) {}

std::vector<std::shared_ptr<Device>> DeviceChain::open() const {
  std::vector<std::shared_ptr<Device>> devices = {first_};
  for (const std::string& spec : next_) {
    try {
      auto device = select({spec, 0, first_->options(), allowed_}).device;
      const bool known =
          std::any_of(devices.begin(), devices.end(), [&](const auto& earlier) {
            return earlier == device || same_hardware(*earlier, *device);
          });
      if (!known) devices.push_back(std::move(device));
    } catch (const Error& error) {
      if (error.status() == RC_E_OUT_OF_MEMORY) throw;
      log(RC_LOG_WARNING, "passed over ", spec, " after ", first_->id(), ": ",
          error.message());
    }
  }
  return devices;
}

std::shared_ptr<Device> DeviceChain::open_one(const std::string& spec,
                                              const char* option) const {
  const std::vector<SpecItem> wanted = parse_spec(spec);
  const auto is_meant = [&wanted](const std::string& id) {
    const SpecItem& item = wanted.front();
    return wanted.size() == 1 &&
           (item.index ? id == cat(item.name, ":", *item.index)
                       : id.substr(0, id.find(':')) == item.name);
  };
  std::string names = first_->id();
  if (is_meant(names)) return first_;
  for (const std::string& next : next_) {
    names += ", " + next;
    // Others are not opened for it.
    if (parse_spec(next).front().name != wanted.front().name) continue;
    auto device = select({next, 0, first_->options(), allowed_}).device;
    if (is_meant(device->id())) return device;
  }
  if (is_meant(kCpu)) return open_fallback();
  fail(RC_E_INVALID_ARGUMENT, option, " is ", quote(spec),
       ", but it can be \"cpu\" or one of this backend's devices: ", names);
}

std::shared_ptr<Device> DeviceChain::open_fallback() const {
  return select({kCpu, 0, first_->options()}).device;
}

}  // namespace rc::runtime
