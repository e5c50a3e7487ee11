// The usage of tenants, and their bills.
#include <optional>
#include <string>
#include <vector>

#include "api/bill.h"
#include "api/guard.h"
#include "api/options.h"
#include "api/returned_memory.h"
#include "api/tenant.h"
#include "api/tenant_text.h"
#include "runtime/open_devices.h"

namespace rc::api {
namespace {

// Adds the time that an open device has worked; there may be several of one id,
// opened with other options.
void add_device(std::vector<engine::DeviceUsage>& devices,
                const runtime::Device& device) {
  const std::string id = device.id();
  const double seconds = static_cast<double>(device.worked_ns()) * 1e-9;
  for (engine::DeviceUsage& known : devices) {
    if (known.device != id) continue;
    known.seconds += seconds;
    return;
  }
  devices.push_back({id, device.is_gpu(), seconds});
}

std::vector<engine::DeviceUsage> open_devices() {
  std::vector<engine::DeviceUsage> devices;
  for (const auto& device : runtime::all_open_devices()) {
    add_device(devices, *device);
  }
  return devices;
}

std::vector<TenantUsage> all_usage() {
  std::vector<TenantUsage> tenants;
  for (const auto& tenant : Tenant::all()) tenants.push_back(tenant->usage());
  return add_up(tenants);
}

}  // namespace
}  // namespace rc::api

using rc::api::guard;
using rc::api::need;
using rc::api::need_pointer;
using rc::api::TenantUsage;

void rc_tenant_usage_report_init(rc_tenant_usage_report* report, size_t size) {
  rc::api::initialise(report, size,
                      rc_tenant_usage_report RC_TENANT_USAGE_REPORT_INIT);
}

rc_status rc_tenant_usage(rc_tenant* tenant, rc_tenant_usage_report* report) {
  return guard([&] {
    const rc::api::Tenant& used = *need(tenant, "tenant").tenant;
    rc::api::write_report(report, used.usage().totals, "report");
  });
}

rc_status rc_tenant_metrics(rc_tenant* tenant, rc_metrics_format format,
                            char** text) {
  return guard([&] {
    need_pointer(text, "text");
    rc::api::need_range<int32_t>(format, RC_METRICS_JSON,
                                 RC_METRICS_OPENMETRICS, "format");
    const std::vector<TenantUsage> tenants =
        tenant == nullptr ? rc::api::all_usage()
                          : std::vector{need(tenant, "tenant").tenant->usage()};
    const auto devices = rc::api::open_devices();
    const std::string made = format == RC_METRICS_JSON
                                 ? rc::api::usage_json(tenants, devices)
                                 : rc::api::usage_metrics(tenants, devices);
    *text = rc::api::return_text(made).release();
  });
}

rc_status rc_tenant_bill(rc_tenant* tenant, const char* prices,
                         const char* since, char** json) {
  return guard([&] {
    const rc::api::Tenant& billed = *need(tenant, "tenant").tenant;
    need_pointer(prices, "prices");
    need_pointer(json, "json");
    std::optional<TenantUsage> before;
    if (since != nullptr) {
      before = rc::api::parse_usage(since, billed.name(), "since");
    }
    const std::string bill =
        rc::api::bill_json(billed.usage(), before ? &*before : nullptr, prices);
    *json = rc::api::return_text(bill).release();
  });
}
