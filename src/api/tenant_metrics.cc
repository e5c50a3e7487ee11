// The usage of tenants in the text format of OpenMetrics 1.0
// (https://prometheus.io/docs/specs/om/open_metrics_spec/).
#include <algorithm>
#include <utility>

#include "api/tenant_text.h"
#include "base/cat.h"

namespace rc::api {
namespace {

// Writes one family after the other, as the format wants them.
class Metrics {
 public:
  using Labels = std::vector<std::pair<const char*, std::string>>;

  // `unit` is a suffix of the name, or "".
  void begin(const char* name, const char* type, const char* unit,
             const char* help) {
    name_ = name;
    text_ += cat("# TYPE runcible_", name, " ", type, "\n");
    if (*unit != '\0') text_ += cat("# UNIT runcible_", name, " ", unit, "\n");
    text_ += cat("# HELP runcible_", name, " ", help, "\n");
  }
  void add(const char* suffix, const Labels& labels, const std::string& value) {
    text_ += cat("runcible_", name_, suffix);
    for (size_t i = 0; i < labels.size(); ++i) {
      text_ += cat(i == 0 ? "{" : ",", labels[i].first, "=\"",
                   escaped(labels[i].second), "\"");
    }
    text_ += cat(labels.empty() ? " " : "} ", value, "\n");
  }
  std::string end() && { return std::move(text_) + "# EOF\n"; }

 private:
  static std::string escaped(const std::string& value) {
    std::string text;
    for (const char c : value) {
      if (c == '\n') {
        text += "\\n";
        continue;
      }
      if (c == '\\' || c == '"') text += '\\';
      text += c;
    }
    return text;
  }

  std::string text_;
  const char* name_ = "";
};

// Rows of models of one name on other devices are one series.
std::vector<engine::ModelUsage> by_model(
    const std::vector<engine::ModelUsage>& models) {
  std::vector<engine::ModelUsage> merged;
  for (const engine::ModelUsage& model : models) {
    const auto known =
        std::find_if(merged.begin(), merged.end(),
                     [&](const auto& one) { return one.model == model.model; });
    if (known == merged.end()) {
      merged.push_back(model);
      continue;
    }
    known->counts += model.counts;
    known->waits += model.waits;
    for (const engine::DeviceUsage& device : model.devices) {
      const auto same = std::find_if(
          known->devices.begin(), known->devices.end(),
          [&](const auto& one) { return one.device == device.device; });
      if (same == known->devices.end()) {
        known->devices.push_back(device);
      } else {
        same->seconds += device.seconds;
      }
    }
  }
  return merged;
}

void add_waits(Metrics& metrics, const Metrics::Labels& labels,
               const engine::Waits& waits) {
  uint64_t count = 0;
  for (size_t i = 0; i < waits.buckets.size(); ++i) {
    count += waits.buckets[i];
    Metrics::Labels bucket = labels;
    bucket.emplace_back("le", i < engine::Waits::kBounds.size()
                                  ? exact_text(engine::Waits::kBounds[i])
                                  : "+Inf");
    metrics.add("_bucket", bucket, cat(count));
  }
  metrics.add("_sum", labels, exact_text(waits.seconds));
  metrics.add("_count", labels, cat(count));
}

}  // namespace

std::string usage_metrics(const std::vector<TenantUsage>& tenants,
                          const std::vector<engine::DeviceUsage>& devices) {
  std::vector<std::vector<engine::ModelUsage>> models;
  for (const TenantUsage& tenant : tenants) {
    models.push_back(by_model(tenant.models));
  }
  Metrics metrics;
  // Calls function(labels, model) for each model of each tenant.
  const auto each_model = [&](const auto& function) {
    for (size_t i = 0; i < tenants.size(); ++i) {
      for (const engine::ModelUsage& model : models[i]) {
        function(Metrics::Labels{{"tenant", tenants[i].name},
                                 {"model", model.model}},
                 model);
      }
    }
  };
  const auto totals = [&](const char* suffix, const auto& value) {
    for (const TenantUsage& tenant : tenants) {
      metrics.add(suffix, {{"tenant", tenant.name}}, value(tenant));
    }
  };

  metrics.begin("requests", "counter", "", "Requests that have ended.");
  each_model([&](const auto& labels, const auto& model) {
    metrics.add("_total", labels, cat(model.counts.requests));
  });
  metrics.begin("tokens", "counter", "",
                "Tokens: of prompts, of these the cached ones, and generated.");
  each_model([&](const auto& labels, const auto& model) {
    const std::pair<const char*, uint64_t> classes[] = {
        {"prompt", model.counts.prompt_tokens},
        {"cached", model.counts.cached_tokens},
        {"generated", model.counts.generated_tokens}};
    for (const auto& [name, count] : classes) {
      Metrics::Labels all = labels;
      all.emplace_back("class", name);
      metrics.add("_total", all, cat(count));
    }
  });
  metrics.begin("device_seconds", "counter", "seconds",
                "Time that devices have worked for tenants.");
  each_model([&](const auto& labels, const auto& model) {
    for (const engine::DeviceUsage& device : model.devices) {
      Metrics::Labels all = labels;
      all.emplace_back("device", device.device);
      metrics.add("_total", all, exact_text(device.seconds));
    }
  });
  metrics.begin("queue_seconds", "histogram", "seconds",
                "Time that requests waited for their first step.");
  each_model([&](const auto& labels, const auto& model) {
    add_waits(metrics, labels, model.waits);
  });
  metrics.begin("memory_byte_seconds", "counter", "",
                "Bytes of devices times the seconds that tenants held them.");
  for (const TenantUsage& tenant : tenants) {
    for (const MemoryUsage& memory : tenant.memory) {
      metrics.add("_total",
                  {{"tenant", tenant.name}, {"device", memory.device}},
                  exact_text(memory.byte_seconds));
    }
  }
  metrics.begin("refused", "counter", "", "Calls that a limit has refused.");
  totals("_total",
         [](const auto& tenant) { return cat(tenant.totals.refused); });
  metrics.begin("memory_bytes", "gauge", "bytes",
                "Bytes of tensors and models.");
  totals("", [](const auto& tenant) { return cat(tenant.totals.memory); });
  metrics.begin("requests_in_flight", "gauge", "", "Requests in flight.");
  totals("", [](const auto& tenant) {
    return cat(tenant.totals.requests_in_flight);
  });
  metrics.begin("sessions", "gauge", "", "Sessions.");
  totals("", [](const auto& tenant) { return cat(tenant.totals.sessions); });
  metrics.begin("models", "gauge", "", "Models that are loaded.");
  totals("", [](const auto& tenant) { return cat(tenant.totals.models); });
  metrics.begin("device_busy_seconds", "counter", "seconds",
                "Time that open devices have worked for anyone.");
  for (const engine::DeviceUsage& device : devices) {
    metrics.add("_total", {{"device", device.device}},
                exact_text(device.seconds));
  }
  return std::move(metrics).end();
}

}  // namespace rc::api
