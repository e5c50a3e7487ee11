# The steps of cases that record and run graphs, compute ops of the test's own, and
# open or change devices; within the namespace of cases.tcl.

proc do_record {step} {
    variable objects
    set inputs {}
    foreach name [dict get $step like] {
        dict set inputs input[dict size $inputs] $objects($name)
    }
    keep $step [runcible::Graph new [runcible::Backend new [dict get $step backend]] $inputs {
        set values [lmap name [dict keys $inputs] {set $name}]
        foreach op [dict get $step ops] {
            set others [lassign $op name x]
            lappend values [[lindex $values $x] $name {*}[lmap i $others {lindex $values $i}]]
        }
        lmap i [dict get $step outputs] {lindex $values $i}
    }]
}

proc keep_run {step made} {
    variable objects
    foreach name [dict get $step as] tensor $made {set objects($name) $tensor}
}
proc inputs_of {step} {
    variable objects
    return [lmap name [dict get $step inputs] {set objects($name)}]
}

proc do_run {step} {
    keep_run $step [[object $step graph] run [inputs_of $step]]
}

proc do_run_later {step} {
    set running [[object $step graph] run_async [inputs_of $step]]
    try {
        keep_run $step [$running wait]
    } finally {
        $running destroy
    }
}

proc do_open_later {step} {
    set ::told {}
    set opening [runcible::open_async [dict get $step spec] -progress {lappend ::told}]
    try {
        set backend [$opening wait]
    } finally {
        $opening destroy
    }
    check {[lindex $::told end] == 1}
    check {[dict get [$backend device] id] eq [dict get $step expect]}
    $backend destroy
}

proc do_switch {step} {
    set backend [runcible::Backend new [dict get $step from]]
    try {
        $backend switch [dict get $step spec]
        check {[dict get [$backend device] id] eq [dict get $step expect]}
    } finally {
        $backend destroy
    }
}

proc do_custom_op {step} {
    set options {}
    foreach name {name signature attributes items} {
        lappend options -$name [dict get $step $name]
    }
    keep $step [runcible::CustomOp new -library $::env(RUNCIBLE_CUSTOM_OP) {*}$options]
}

proc do_compute {step} {
    keep_run $step [[object $step op] compute [inputs_of $step] -scale [dict get $step scale]]
}

proc do_discover_later {step} {
    set discovery [runcible::discover_async]
    set devices [dict get [$discovery wait] devices]
    $discovery destroy
    check {[dict get $step expect] in [lmap device $devices {dict get $device id}]}
}
