// Bills: what tenants owe for what they have used, by a price list.
#pragma once

#include <string>
#include <string_view>

#include "api/tenant.h"

namespace rc::api {

// As rc_tenant_bill describes it. `since` is taken off; nullptr: nothing.
// Throws RC_E_INVALID_ARGUMENT for a wrong price list.
std::string bill_json(const TenantUsage& usage, const TenantUsage* since,
                      std::string_view prices);

}  // namespace rc::api
