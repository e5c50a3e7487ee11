// The usage of tenants as text: JSON, and OpenMetrics for monitoring.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/tenant.h"

namespace rc::api {

// As rc_tenant_metrics describes them. Devices are those that are open.
std::string usage_json(const std::vector<TenantUsage>& tenants,
                       const std::vector<engine::DeviceUsage>& devices);
std::string usage_metrics(const std::vector<TenantUsage>& tenants,
                          const std::vector<engine::DeviceUsage>& devices);

// The first tenant of that name in what usage_json gave. Throws
// RC_E_INVALID_ARGUMENT, naming the argument, for other texts, and if there is
// no such tenant.
TenantUsage parse_usage(std::string_view json, std::string_view tenant,
                        const char* argument);

// Tenants of one name as one.
std::vector<TenantUsage> add_up(const std::vector<TenantUsage>& tenants);

// A number with all of its digits, as JSON and OpenMetrics have them.
std::string exact_text(double number);

}  // namespace rc::api
