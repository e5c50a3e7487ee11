#include "api/tenant_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/json_value.h"

namespace rc::api {
namespace {

constexpr size_t kSnapshotDepth = 8;

// The members of rc_tenant_usage_report, by name.
struct Total {
  const char* name;
  uint64_t rc_tenant_usage_report::*large;
  int32_t rc_tenant_usage_report::*small;  // if that is nullptr
};
constexpr Total kTotals[] = {
    {"requests", &rc_tenant_usage_report::requests, nullptr},
    {"prompt_tokens", &rc_tenant_usage_report::prompt_tokens, nullptr},
    {"cached_tokens", &rc_tenant_usage_report::cached_tokens, nullptr},
    {"generated_tokens", &rc_tenant_usage_report::generated_tokens, nullptr},
    {"device_us", &rc_tenant_usage_report::device_us, nullptr},
    {"memory", &rc_tenant_usage_report::memory, nullptr},
    {"refused", &rc_tenant_usage_report::refused, nullptr},
    {"requests_in_flight", nullptr,
     &rc_tenant_usage_report::requests_in_flight},
    {"sessions", nullptr, &rc_tenant_usage_report::sessions},
    {"models", nullptr, &rc_tenant_usage_report::models},
    {"backends", nullptr, &rc_tenant_usage_report::backends}};

struct Count {
  const char* name;
  uint64_t engine::Counts::*member;
};
constexpr Count kCounts[] = {
    {"requests", &engine::Counts::requests},
    {"prompt_tokens", &engine::Counts::prompt_tokens},
    {"cached_tokens", &engine::Counts::cached_tokens},
    {"generated_tokens", &engine::Counts::generated_tokens}};

// The elements as a JSON array: text(element) writes one.
template <class Elements, class Text>
std::string array(const Elements& elements, const Text& text) {
  std::string list = "[";
  for (const auto& element : elements) {
    if (list.size() > 1) list += ',';
    list += text(element);
  }
  return list + "]";
}

const char* bool_text(bool value) { return value ? "true" : "false"; }

std::string device_json(const engine::DeviceUsage& device) {
  return cat("{\"device\":", json_text(device.device),
             ",\"gpu\":", bool_text(device.is_gpu),
             ",\"seconds\":", exact_text(device.seconds), "}");
}

std::string waits_json(const engine::Waits& waits) {
  return cat("{\"bounds\":", array(engine::Waits::kBounds, exact_text),
             ",\"counts\":",
             array(waits.buckets, [](uint64_t count) { return cat(count); }),
             ",\"seconds\":", exact_text(waits.seconds), "}");
}

std::string model_json(const engine::ModelUsage& model) {
  std::string text = cat("{\"model\":", json_text(model.model),
                         ",\"devices\":", array(model.devices, device_json));
  for (const Count& count : kCounts) {
    text += cat(",\"", count.name, "\":", model.counts.*count.member);
  }
  return text + ",\"waits\":" + waits_json(model.waits) + "}";
}

std::string memory_json(const MemoryUsage& memory) {
  return cat("{\"device\":", json_text(memory.device),
             ",\"gpu\":", bool_text(memory.is_gpu),
             ",\"byte_seconds\":", exact_text(memory.byte_seconds), "}");
}

std::string tenant_json(const TenantUsage& tenant) {
  std::string text = cat("{\"name\":", json_text(tenant.name),
                         ",\"weight\":", exact_text(tenant.weight));
  for (const Total& total : kTotals) {
    text += cat(",\"", total.name, "\":");
    text += total.large != nullptr ? cat(tenant.totals.*total.large)
                                   : cat(tenant.totals.*total.small);
  }
  return text + ",\"usage\":" + array(tenant.models, model_json) +
         ",\"held\":" + array(tenant.memory, memory_json) + "}";
}

// Reads what the functions above have written.
class Reader {
 public:
  explicit Reader(const char* argument) : argument_(argument) {}

  [[noreturn]] void refuse(const std::string& why) const {
    fail(RC_E_INVALID_ARGUMENT, argument_,
         ": not a snapshot of metrics in JSON: ", why);
  }
  const JsonValue& member(const JsonValue& object, const char* name,
                          JsonValue::Type type) const {
    const JsonValue* const found =
        object.is(JsonValue::Type::kObject) ? object.find(name) : nullptr;
    if (found == nullptr || !found->is(type)) refuse(cat("\"", name, "\""));
    return *found;
  }
  const std::vector<JsonValue>& items(const JsonValue& object,
                                      const char* name) const {
    return member(object, name, JsonValue::Type::kArray).items;
  }
  std::string text(const JsonValue& object, const char* name) const {
    return member(object, name, JsonValue::Type::kString).text;
  }
  double number(const JsonValue& object, const char* name) const {
    return number(member(object, name, JsonValue::Type::kNumber), name, 0.0);
  }
  uint64_t count(const JsonValue& object, const char* name) const {
    return number(member(object, name, JsonValue::Type::kNumber), name,
                  uint64_t{0});
  }
  bool flag(const JsonValue& object, const char* name) const {
    const JsonValue* const found = object.find(name);
    if (found == nullptr || !found->is_bool()) refuse(cat("\"", name, "\""));
    return found->is(JsonValue::Type::kTrue);
  }
  template <class T>
  T number(const JsonValue& value, const char* name, T number) const {
    const char* const end = value.text.data() + value.text.size();
    const auto [last, error] = std::from_chars(value.text.data(), end, number);
    if (!value.is(JsonValue::Type::kNumber) || error != std::errc() ||
        last != end) {
      refuse(cat("\"", name, "\" is ", value.text));
    }
    return number;
  }

 private:
  const char* const argument_;
};

engine::ModelUsage read_model(const Reader& reader, const JsonValue& object) {
  engine::ModelUsage model;
  model.model = reader.text(object, "model");
  for (const JsonValue& device : reader.items(object, "devices")) {
    model.devices.push_back({reader.text(device, "device"),
                             reader.flag(device, "gpu"),
                             reader.number(device, "seconds")});
  }
  for (const Count& count : kCounts) {
    model.counts.*count.member = reader.count(object, count.name);
  }
  return model;
}

}  // namespace

std::string exact_text(double number) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  return {text, end};
}

std::string usage_json(const std::vector<TenantUsage>& tenants,
                       const std::vector<engine::DeviceUsage>& devices) {
  return cat("{\"tenants\":", array(tenants, tenant_json),
             ",\"devices\":", array(devices, device_json), "}");
}

TenantUsage parse_usage(std::string_view json, std::string_view tenant,
                        const char* argument) {
  const Reader reader(argument);
  const JsonValue root = parse_json(json, argument, kSnapshotDepth);
  for (const JsonValue& object : reader.items(root, "tenants")) {
    TenantUsage usage;
    usage.name = reader.text(object, "name");
    if (usage.name != tenant) continue;
    for (const JsonValue& model : reader.items(object, "usage")) {
      usage.models.push_back(read_model(reader, model));
    }
    for (const JsonValue& memory : reader.items(object, "held")) {
      usage.memory.push_back({reader.text(memory, "device"),
                              reader.flag(memory, "gpu"),
                              reader.number(memory, "byte_seconds")});
    }
    return usage;
  }
  reader.refuse(cat("it has no tenant '", tenant, "'"));
}

std::vector<TenantUsage> add_up(const std::vector<TenantUsage>& tenants) {
  std::vector<TenantUsage> sums;
  for (const TenantUsage& tenant : tenants) {
    const auto known =
        std::find_if(sums.begin(), sums.end(),
                     [&](const auto& one) { return one.name == tenant.name; });
    if (known == sums.end()) {
      sums.push_back(tenant);
      continue;
    }
    for (const Total& total : kTotals) {
      if (total.large != nullptr) {
        known->totals.*total.large += tenant.totals.*total.large;
      } else {
        known->totals.*total.small += tenant.totals.*total.small;
      }
    }
    known->models.insert(known->models.end(), tenant.models.begin(),
                         tenant.models.end());
    for (const MemoryUsage& memory : tenant.memory) {
      const auto same = std::find_if(
          known->memory.begin(), known->memory.end(),
          [&](const auto& one) { return one.device == memory.device; });
      if (same == known->memory.end()) {
        known->memory.push_back(memory);
      } else {
        same->byte_seconds += memory.byte_seconds;
      }
    }
  }
  return sums;
}

}  // namespace rc::api
