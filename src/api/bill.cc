#include "api/bill.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "api/tenant_text.h"
#include "base/error.h"
#include "base/json_value.h"
#include "base/quote.h"

namespace rc::api {
namespace {

constexpr const char* kArgument = "prices";
constexpr size_t kPricesDepth = 4;
constexpr double kSecondsOfHour = 3600;
constexpr double kMillion = 1e6;
constexpr double kBytesOfGib = 1024.0 * 1024.0 * 1024.0;

double need_price(const JsonValue& value, const std::string& name) {
  double price = -1;
  const char* const end = value.text.data() + value.text.size();
  if (value.is(JsonValue::Type::kNumber)) {
    std::from_chars(value.text.data(), end, price);
  }
  if (!(price >= 0) || !std::isfinite(price)) {
    fail(RC_E_INVALID_ARGUMENT, kArgument, ": ", name,
         " must be a number of 0 or more");
  }
  return price;
}

// Prices by name.
class Prices {
 public:
  Prices() = default;
  Prices(const std::string& table, const JsonValue& object) {
    if (!object.is(JsonValue::Type::kObject)) {
      fail(RC_E_INVALID_ARGUMENT, kArgument, ": \"", table, "\" is ",
           type_name(object), ", not an object");
    }
    for (const auto& [name, value] : object.members) {
      prices_.emplace_back(name, need_price(value, table + "." + name));
    }
  }

  std::optional<double> find(std::string_view name) const {
    for (const auto& [known, price] : prices_) {
      if (known == name) return price;
    }
    return std::nullopt;
  }
  std::optional<double> of_device(const std::string& id, bool is_gpu) const {
    if (const auto price = find(id)) return price;
    if (const auto price = find(id.substr(0, id.find(':')))) return price;
    return is_gpu ? find("gpu") : std::nullopt;
  }
  // Throws if there is a price for something else.
  void need_names(const char* table,
                  std::initializer_list<std::string_view> names) const {
    for (const auto& [known, price] : prices_) {
      if (std::find(names.begin(), names.end(), known) != names.end()) continue;
      fail(RC_E_INVALID_ARGUMENT, kArgument, ": \"", table,
           "\" has a price of ", quote(known),
           "; tokens are prompt, cached and generated");
    }
  }

 private:
  std::vector<std::pair<std::string, double>> prices_;
};

struct PriceList {
  std::string currency;
  Prices device_hour, million_tokens, gib_hour;
};

PriceList read_prices(std::string_view text) {
  const JsonValue root = parse_json(text, kArgument, kPricesDepth);
  if (!root.is(JsonValue::Type::kObject)) {
    fail(RC_E_INVALID_ARGUMENT, kArgument, ": ", type_name(root),
         ", not an object");
  }
  PriceList list;
  bool has_currency = false;
  for (const auto& [name, value] : root.members) {
    if (name == "currency") {
      has_currency = value.is(JsonValue::Type::kString);
      list.currency = value.text;
    } else if (name == "device_hour") {
      list.device_hour = Prices(name, value);
    } else if (name == "million_tokens") {
      list.million_tokens = Prices(name, value);
      list.million_tokens.need_names("million_tokens",
                                     {"prompt", "cached", "generated"});
    } else if (name == "gib_hour") {
      list.gib_hour = Prices(name, value);
    } else {
      fail(RC_E_INVALID_ARGUMENT, kArgument, ": there is no member ",
           quote(name),
           "; known are currency, device_hour, million_tokens and gib_hour");
    }
  }
  if (!has_currency) {
    fail(RC_E_INVALID_ARGUMENT, kArgument,
         ": \"currency\" is lacking, or is no string");
  }
  return list;
}

// The items of a bill, and their sum.
class Items {
 public:
  void add(const char* what, const std::string& tokens,
           const std::string& model, const std::string& device, double quantity,
           std::optional<double> price) {
    const double amount = quantity * price.value_or(0);
    total_ += amount;
    text_ +=
        cat(text_.empty() ? "" : ",", "{\"what\":\"", what,
            "\",\"class\":", json_text(tokens), ",\"model\":", json_text(model),
            ",\"device\":", json_text(device),
            ",\"quantity\":", exact_text(quantity),
            ",\"price\":", price ? exact_text(*price) : "null",
            ",\"amount\":", exact_text(amount), "}");
  }
  const std::string& text() const { return text_; }
  double total() const { return total_; }

 private:
  std::string text_;
  double total_ = 0;
};

// The same model on the same devices; nullptr: nothing was used before.
const engine::ModelUsage* find(const TenantUsage* usage,
                               const engine::ModelUsage& model) {
  if (usage == nullptr) return nullptr;
  const auto same_device = [](const auto& a, const auto& b) {
    return a.device == b.device;
  };
  for (const engine::ModelUsage& known : usage->models) {
    if (known.model == model.model &&
        std::equal(known.devices.begin(), known.devices.end(),
                   model.devices.begin(), model.devices.end(), same_device)) {
      return &known;
    }
  }
  return nullptr;
}

void add_model(Items& items, const PriceList& prices,
               const engine::ModelUsage& model,
               const engine::ModelUsage* before) {
  for (size_t i = 0; i < model.devices.size(); ++i) {
    const engine::DeviceUsage& device = model.devices[i];
    const double seconds =
        device.seconds - (before == nullptr ? 0 : before->devices[i].seconds);
    items.add("device_hour", "", model.model, device.device,
              seconds / kSecondsOfHour,
              prices.device_hour.of_device(device.device, device.is_gpu));
  }
  engine::Counts counts = model.counts;
  if (before != nullptr) counts -= before->counts;
  // Cached tokens have a separate price.
  const std::pair<const char*, uint64_t> classes[] = {
      {"prompt", counts.prompt_tokens - counts.cached_tokens},
      {"cached", counts.cached_tokens},
      {"generated", counts.generated_tokens}};
  for (const auto& [name, count] : classes) {
    if (count == 0) continue;
    items.add("million_tokens", name, model.model, "",
              static_cast<double>(count) / kMillion,
              prices.million_tokens.find(name));
  }
}

double byte_seconds_before(const TenantUsage* since,
                           const std::string& device) {
  if (since == nullptr) return 0;
  for (const MemoryUsage& known : since->memory) {
    if (known.device == device) return known.byte_seconds;
  }
  return 0;
}

}  // namespace

std::string bill_json(const TenantUsage& usage, const TenantUsage* since,
                      std::string_view prices) {
  const PriceList list = read_prices(prices);
  Items items;
  for (const engine::ModelUsage& model : usage.models) {
    add_model(items, list, model, find(since, model));
  }
  for (const MemoryUsage& memory : usage.memory) {
    const double byte_seconds =
        memory.byte_seconds - byte_seconds_before(since, memory.device);
    items.add("gib_hour", "", "", memory.device,
              byte_seconds / kBytesOfGib / kSecondsOfHour,
              list.gib_hour.of_device(memory.device, memory.is_gpu));
  }
  return cat("{\"tenant\":", json_text(usage.name),
             ",\"currency\":", json_text(list.currency), ",\"items\":[",
             items.text(), "],\"total\":", exact_text(items.total()), "}");
}

}  // namespace rc::api
