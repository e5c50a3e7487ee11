#include "runtime/assignment.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/error.h"

namespace rc::runtime {
namespace {

// An op that its device does not support.
struct UnsupportedOp {
  size_t op;
  std::string reason;
};

// Why the device cannot run the op; "" if it can.
std::string reason_of(const Device& device, const Op& op,
                      const ProgramDescription& description) {
  Message message;
  const rc_status status =
      device.op_supported(op, description.values.data(), message);
  if (status == RC_OK) return "";
  if (status != RC_E_UNSUPPORTED) {
    check(device, cat("say whether it supports ", op_name(op.code)).c_str(),
          status, message);
  }
  return *message.text() == '\0' ? "no reason is given" : message.text();
}

// "LINEAR (reason), ROPE (reason)"; the layers of a model have the same ops, so
// each once.
std::string text_of(const std::vector<UnsupportedOp>& unsupported,
                    const ProgramDescription& description) {
  std::string text;
  for (const UnsupportedOp& one_op : unsupported) {
    const std::string one =
        cat(op_name(description.ops[one_op.op].code), " (", one_op.reason, ")");
    if (text.find(one) != std::string::npos) continue;
    text.append(text.empty() ? "" : ", ").append(one);
  }
  return text;
}

// The ops that use each cache, directly or because they share another cache.
class CacheGroups {
 public:
  explicit CacheGroups(const ProgramDescription& description)
      : description_(description), leaders_(description.caches.size()) {
    std::iota(leaders_.begin(), leaders_.end(), size_t{0});
    for (const Op& op : description.ops) {
      size_t first = kNone;
      for_each_cache(op, [&](size_t cache) {
        if (first == kNone) first = leader(cache);
        leaders_[leader(cache)] = first;
      });
    }
  }
  static constexpr size_t kNone = static_cast<size_t>(-1);
  // Of the group of an op; kNone if it uses no cache.
  size_t group(const Op& op) const {
    size_t found = kNone;
    for_each_cache(op, [&](size_t cache) { found = leader(cache); });
    return found;
  }

 private:
  template <class Function>
  void for_each_cache(const Op& op, Function function) const {
    const auto look = [&](Value number) {
      if (number < 0) return;
      const rc_plugin_value& value =
          description_.values[static_cast<size_t>(number)];
      if (value.storage == RC_STORAGE_CACHE) {
        function(static_cast<size_t>(value.index));
      }
    };
    for (const Value input : op.inputs) look(input);
    for (const Value output : op.outputs) look(output);
  }
  size_t leader(size_t cache) const {
    while (leaders_[cache] != cache) cache = leaders_[cache];
    return cache;
  }
  const ProgramDescription& description_;
  std::vector<size_t> leaders_;
};

// Ops that use one cache run on one device: where the first of them is. Layers
// can attend to what others have stored.
void bring_caches_together(const ProgramDescription& description,
                           const CacheGroups& groups,
                           std::vector<size_t>& device_of_op) {
  std::unordered_map<size_t, size_t> device_of_group;
  for (size_t i = 0; i < description.ops.size(); ++i) {
    const size_t group = groups.group(description.ops[i]);
    if (group == CacheGroups::kNone) continue;
    device_of_op[i] =
        device_of_group.try_emplace(group, device_of_op[i]).first->second;
  }
}

}  // namespace

Assignment assign(const ProgramDescription& description,
                  std::vector<size_t> wished,
                  std::vector<std::shared_ptr<Device>>& devices,
                  const std::function<std::shared_ptr<Device>()>& fallback,
                  bool strict) {
  Assignment result;
  result.device_of_op = std::move(wished);
  const CacheGroups groups(description);
  bring_caches_together(description, groups, result.device_of_op);
  std::vector<UnsupportedOp> unsupported;
  for (size_t i = 0; i < description.ops.size(); ++i) {
    const Device& device = *devices[result.device_of_op[i]];
    std::string reason = reason_of(device, description.ops[i], description);
    if (!reason.empty()) unsupported.push_back({i, std::move(reason)});
  }
  if (unsupported.empty()) return result;
  // They may be of several devices; one is named.
  const Device& lacking = *devices[result.device_of_op[unsupported.front().op]];
  if (!fallback || strict) {
    fail(RC_E_UNSUPPORTED, lacking.id(),
         " cannot run this program; it does not support: ",
         text_of(unsupported, description),
         strict ? ". Open the backend without strict, and they run on the CPU"
                : ". Choose another backend");
  }
  std::shared_ptr<Device> stand_in = fallback();
  size_t number = static_cast<size_t>(
      std::find(devices.begin(), devices.end(), stand_in) - devices.begin());
  if (number == devices.size()) devices.push_back(stand_in);

  // An op that shares a cache with an op that is not supported goes with it.
  const size_t own_count = unsupported.size();
  for (size_t k = 0; k < own_count; ++k) {
    const Op& one_op = description.ops[unsupported[k].op];
    const size_t group = groups.group(one_op);
    if (group == CacheGroups::kNone) continue;
    for (size_t i = 0; i < description.ops.size(); ++i) {
      if (groups.group(description.ops[i]) != group) continue;
      const bool known = std::any_of(
          unsupported.begin(), unsupported.end(),
          [&](const UnsupportedOp& other) { return other.op == i; });
      if (known) continue;
      unsupported.push_back(
          {i, cat("it shares the KV cache of ", op_name(one_op.code),
                  ", which is not supported")});
    }
  }

  std::vector<UnsupportedOp> hopeless;
  for (const UnsupportedOp& one_op : unsupported) {
    const Op& op = description.ops[one_op.op];
    size_t& device = result.device_of_op[one_op.op];
    std::string reason = reason_of(*stand_in, op, description);
    if (device == number || !reason.empty()) {
      hopeless.push_back({one_op.op, reason.empty() ? one_op.reason : reason});
      continue;
    }
    Fallback fallback_of_op = {op_name(op.code), devices[device]->id(),
                               stand_in->id(), one_op.reason};
    if (std::find(result.fallbacks.begin(), result.fallbacks.end(),
                  fallback_of_op) == result.fallbacks.end()) {
      result.fallbacks.push_back(std::move(fallback_of_op));
    }
    device = number;
  }
  if (!hopeless.empty()) {
    fail(RC_E_UNSUPPORTED, lacking.id(),
         " cannot run this program, and neither can ", stand_in->id(),
         "; neither supports: ", text_of(hopeless, description),
         ". Choose another backend");
  }
  return result;
}

}  // namespace rc::runtime
