# Backends and devices; see runcible/backend.h.

namespace eval ::runcible {
    variable kinds {}
    dict for {kind number} [Constants DEVICE_] {
        dict set kinds $number $kind
    }
    unset kind number
}

proc ::runcible::DeviceReport {command} {
    variable kinds
    set report [Report device_report $command]
    dict set report kind [dict get $kinds [dict get $report kind]]
    return $report
}

# The devices of the machine, and the backends that are not available: a dict of
# `devices`, a list of reports, and `automatic`, what "auto" would choose.
proc ::runcible::discover {} {
    set found [native::discover]
    try {
        set devices {}
        for {set i 0} {$i < [native::device_list_count $found]} {incr i} {
            lappend devices [DeviceReport [list native::device_list_get $found $i]]
        }
        return [dict create devices $devices automatic [native::device_list_automatic $found]]
    } finally {
        native::dispose $found
    }
}

# One opening of one device, with its own limits and its own meter.
oo::class create ::runcible::Backend {
    superclass ::runcible::Handle
    variable handle

    # Opens the first device of a chain, such as "vulkan,cpu"; "" is "auto" or what
    # RUNCIBLE_BACKEND holds. Options are the members of rc_backend_options, with
    # -timeout in seconds.
    constructor {{spec ""} args} {
        set pairs [::runcible::Pairs $args]
        set handle [::runcible::WithOptions backend_options $pairs \
            [list ::runcible::native::backend_open $spec]]
    }

    # Accounts for the choice and for what became of it; a dict.
    method explain {} {
        return [::runcible::Decoded [lindex [::runcible::native::backend_explain [my Handle]] 0]]
    }

    # The device that was opened: the members of rc_device_report.
    method device {} {
        return [::runcible::DeviceReport [list ::runcible::native::backend_device [my Handle]]]
    }

    # What the handle has used since it was opened.
    method usage {} {
        return [::runcible::Report backend_usage_report \
            [list ::runcible::native::backend_usage [my Handle]]]
    }

    # When the ops of the last runs began and ended, in the trace event format of
    # Chrome and Perfetto, as JSON; needs the option -profile.
    method trace {} {
        return [::runcible::native::backend_trace [my Handle]]
    }
}

# Calls {*}$command with the handle of a backend, which may be given as an object
# or by what it is called.
proc ::runcible::WithBackend {backend command} {
    if {[info object isa object $backend]} {
        return [{*}$command [Need $backend Backend -backend]]
    }
    set opened [Backend new $backend]
    try {
        return [{*}$command [Need $opened Backend -backend]]
    } finally {
        $opened destroy
    }
}
