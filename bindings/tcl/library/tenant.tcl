# Tenants, which share devices by weight, have limits, and get a bill; see
# runcible/tenant.h.

# Returns a snapshot of all tenants of the process that still exist, in the form of
# `metrics` of Tenant. Tenants with the same name are added up.
proc ::runcible::metrics {} {
    return [native::all_tenant_metrics $native::METRICS_JSON]
}

# Returns the same numbers in the text format of OpenMetrics.
proc ::runcible::open_metrics {} {
    return [native::all_tenant_metrics $native::METRICS_OPENMETRICS]
}

# :header: rc_tenant
oo::class create ::runcible::Tenant {
    superclass ::runcible::Handle
    variable handle

    # :header: rc_tenant_create rc_tenant_options
    # :api: members rc_tenant_options
    constructor {args} {
        set handle [::runcible::WithOptions tenant_options [::runcible::Pairs $args] \
            ::runcible::native::tenant_create]
    }

    # :header: rc_tenant_change
    # :api: members rc_tenant_options
    method change {args} {
        ::runcible::WithOptions tenant_options [::runcible::Pairs $args] \
            [list ::runcible::native::tenant_change [my Handle]]
        return
    }

    # Returns JSON, which `bill` takes; values of dicts have no types.
    #
    # :header: RC_METRICS_JSON
    method metrics {} {
        return [::runcible::native::tenant_metrics [my Handle] \
            $::runcible::native::METRICS_JSON]
    }

    # :header: RC_METRICS_OPENMETRICS
    method open_metrics {} {
        return [::runcible::native::tenant_metrics [my Handle] \
            $::runcible::native::METRICS_OPENMETRICS]
    }

    # Returns a dict. `prices` is a dict or JSON, `since` JSON, or "".
    #
    # :header: rc_tenant_bill
    method bill {prices {since ""}} {
        return [::runcible::Decoded [::runcible::native::tenant_bill [my Handle] \
            [::runcible::PricesJson $prices] $since]]
    }

    # :api: methods rc_tenant
}
