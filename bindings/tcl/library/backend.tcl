# Backends and devices; see runcible/backend.h.

# Returns the devices of the machine, and the backends that are not available: a
# dict of `devices`, a list of reports, and `automatic`, the device that "auto"
# would choose.
proc ::runcible::discover {} {
    return [Discovered [native::discover]]
}

# Looks for devices while the event loop runs. Returns a Pending, whose `wait`
# returns the dict. Options: -progress and -command, as for open_async.
proc ::runcible::discover_async {args} {
    return [Pending new ::runcible::native::discover_start [list apply {{call} {
        Discovered [native::pending_call_devices $call]
    } ::runcible}] [Pairs $args]]
}

proc ::runcible::Discovered {found} {
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

# Opens a backend while the event loop runs. Returns a Pending, whose `wait`
# returns the Backend. Options: those of Backend; -progress, a command that
# receives the fraction done, 0 to 1, several times in a second: if it raises an
# error, the opening is cancelled, and `wait` raises the error; -command as for
# Pending.
proc ::runcible::open_async {{spec ""} args} {
    set pairs [Pairs $args]
    set begin [list apply {{spec pairs box key} {
        WithBackendOptions $pairs [list native::backend_open_start $box $key $spec]
    } ::runcible} $spec [dict remove $pairs command progress]]
    set result [list apply {{call} {
        Backend new "" -handle [native::pending_call_backend $call]
    } ::runcible}]
    return [Pending new $begin $result [dict filter $pairs key command progress]]
}

# Calls {*}$command with the library's options of an opening.
proc ::runcible::WithBackendOptions {pairs command} {
    set tenant ""
    if {[dict exists $pairs tenant]} {
        set tenant [Need [dict get $pairs tenant] Tenant -tenant]
    }
    WithOptions backend_options [dict remove $pairs tenant] [list apply {{tenant command options} {
        native::backend_options_set_tenant $options $tenant
        {*}$command $options
    } ::runcible} $tenant $command]
}

# One opening of one device, with its own limits and its own meter.
oo::class create ::runcible::Backend {
    superclass ::runcible::Handle
    variable handle

    # Opens the first device of a chain, such as "vulkan,cpu"; "" is "auto" or the
    # value of RUNCIBLE_BACKEND.
    # :api: members rc_backend_options
    # A further option is -tenant, the Tenant to which the backend belongs; default: a
    # separate one without limits.
    constructor {{spec ""} args} {
        if {[lindex $args 0] eq "-handle"} {
            set handle [lindex $args 1]
            return
        }
        set handle [::runcible::WithBackendOptions [::runcible::Pairs $args] \
            [list ::runcible::native::backend_open $spec]]
    }

    # :header: rc_backend_switch
    # :api: members rc_backend_switch_options
    method switch {{spec ""} args} {
        ::runcible::WithOptions backend_switch_options [::runcible::Pairs $args] \
            [list ::runcible::native::backend_switch [my Handle] $spec]
        return
    }

    # Switches while the event loop runs. Returns a Pending, whose `wait` returns
    # nothing. Options: those of `switch`, and -progress and -command as for
    # open_async. A switch that is cancelled or fails leaves everything as it was.
    method switch_async {{spec ""} args} {
        set pairs [::runcible::Pairs $args]
        set begin [list apply {{backend spec pairs box key} {
            WithOptions backend_switch_options $pairs \
                [list native::backend_switch_start $box $key $backend $spec]
        } ::runcible} [my Handle] $spec [dict remove $pairs command progress]]
        return [::runcible::Pending new $begin [list apply {{call} {return}}] \
            [dict filter $pairs key command progress]]
    }

    # :api: methods rc_backend
}

# Calls {*}$command with the handle of a backend, which is an object or the name
# of one to open.
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
