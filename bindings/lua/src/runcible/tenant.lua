--- Tenants, which share devices by weight, have limits, and get a bill; see
-- runcible/tenant.h.
local handle = require "runcible.handle"
local native = require "runcible.native"

local need = handle.need

-- :header: rc_tenant
local Tenant = handle.class "Tenant"

-- :header: rc_tenant_create rc_tenant_options
-- :api: members rc_tenant_options
function Tenant.new(options)
  return Tenant.of(native.tenant_create(handle.set_options(native.tenant_options(), options)))
end

-- :header: rc_tenant_change
-- :api: members rc_tenant_options
function Tenant:change(options)
  local proxy = need(self, Tenant, "self")
  native.tenant_change(proxy, handle.set_options(native.tenant_options(), options))
end

-- :header: RC_METRICS_JSON
function Tenant:metrics()
  return handle.decoded(native.tenant_metrics(need(self, Tenant, "self"), native.METRICS_JSON))
end

-- :header: RC_METRICS_OPENMETRICS
function Tenant:open_metrics()
  return native.tenant_metrics(need(self, Tenant, "self"), native.METRICS_OPENMETRICS)
end

-- :header: rc_tenant_bill
-- `prices` and `since` are tables, or JSON.
function Tenant:bill(prices, since)
  local proxy = need(self, Tenant, "self")
  prices = handle.encoded(prices, "prices")
  if since ~= nil then since = handle.encoded(since, "since") end
  return handle.decoded(native.tenant_bill(proxy, prices, since))
end

-- :api: methods rc_tenant

--- Returns a snapshot of all tenants of the process that still exist, in the form
-- of Tenant:metrics. Tenants with the same name are added up.
local function metrics()
  return handle.decoded(native.all_tenant_metrics(native.METRICS_JSON))
end

--- Returns the same numbers in the text format of OpenMetrics.
local function open_metrics()
  return native.all_tenant_metrics(native.METRICS_OPENMETRICS)
end

return {Tenant = Tenant, metrics = metrics, open_metrics = open_metrics}
