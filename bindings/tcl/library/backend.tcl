# Backends and devices; see runcible/backend.h.

# The devices of the machine, and the backends that are not available: a dict of
# `devices`, a list of reports, and `automatic`, what "auto" would choose.
proc ::runcible::discover {} {
    set found [native::discover]
    try {
        set devices {}
        for {set i 0} {$i < [native::device_list_count $found]} {incr i} {
            lappend devices [Report device_report [list native::device_list_get $found $i]]
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
    # RUNCIBLE_BACKEND holds.
    # :api: members rc_backend_options
    constructor {{spec ""} args} {
        set pairs [::runcible::Pairs $args]
        set handle [::runcible::WithOptions backend_options $pairs \
            [list ::runcible::native::backend_open $spec]]
    }

    # :api: methods rc_backend
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
