# Opening and discovering on Tcl's event loop.

proc ticking {} {
    incr ::ticks
    set ::ticker [after 1 ticking]
}

it opening_runs_while_a_timer_ticks {
    set ::ticks 0
    set ::fractions {}
    ticking
    in_coroutine {{} {
        set opening [runcible::open_async cpu -threads 1 -progress {lappend ::fractions}]
        set backend [$opening wait]
        check {[$opening wait] eq $backend}
        $opening destroy
        check {[dict get [$backend device] id] eq "cpu:0"}
        check {[[[runcible::Tensor new {1 -2} $backend] relu] read] eq {1.0 0.0}}
        $backend destroy
    }}
    after cancel $::ticker
    check {$::ticks > 0 && [lindex $::fractions end] == 1}
}

it opening_and_discovering_need_no_coroutine {
    set discovery [runcible::discover_async]
    set found [$discovery wait]
    $discovery destroy
    # Compares the devices, but not their free memory.
    foreach device [dict get $found devices] wanted [dict get [runcible::discover] devices] {
        check {[dict get $device id] eq [dict get $wanted id]}
    }
    check {[dict get $found automatic] eq [dict get [runcible::discover] automatic]}
}

it opening_reports_its_end_to_a_command {
    foreach spec {cpu nosuch} {
        set ::last ""
        runcible::open_async $spec -command {apply {{pending what args} {set ::last [list $what {*}$args]}}}
        wait_for ::last
        lappend events [lindex $::last 0]
    }
    check {$events eq {end error}}
    check {[lrange [dict get [lindex $::last 2] -errorcode] 0 1] eq {RUNCIBLE NOT_FOUND}}
    check {[string match *nosuch* [lindex $::last 1]]}
}

it opening_ends_by_an_error_of_progress_and_by_destroy {
    set opening [runcible::open_async cpu -progress {error enough}]
    check {[catch {$opening wait} message] && [string match *enough* $message]}
    $opening destroy
    # Destroying a Pending does no harm to later calls.
    [runcible::open_async cpu -progress {set ::fraction}] destroy
    [runcible::discover_async] destroy
    set opening [runcible::open_async cpu]
    set backend [$opening wait]
    $opening destroy
    $backend destroy
}

it switch_async_runs_on_the_event_loop {
    set backend [runcible::Backend new cpu]
    set model [runcible::Model new builtin:fable -backend $backend]
    check {[failure {$backend switch cpu -threads 1}] eq "VALUE"}
    set ::fractions {}
    in_coroutine {{backend} {
        set switching [$backend switch_async reference -progress {lappend ::fractions}]
        check {[$switching wait] eq ""}
        $switching destroy
    }} $backend
    check {[lindex $::fractions end] == 1}
    $backend switch_async nothing -command {apply {{pending what args} {
        set ::last [list $what {*}$args]
    }}}
    wait_for ::last
    check {[lrange [dict get [lindex $::last 2] -errorcode] 0 1] eq {RUNCIBLE NOT_FOUND}}
    $model destroy
    $backend destroy
    set backend [runcible::Backend new reference]
    set refused [$backend switch_async cpu -progress {error "not now"}]
    check {[catch {$refused wait} message] && [string match "not now*" $message]}
    $refused destroy
    $backend destroy
}

it opening_takes_a_tenant {
    # Tcl 8.6 has two characters for a fox.
    set name "Zo\u00eb \ud83e\udd8a"
    set tenant [runcible::Tenant new -name $name]
    set opening [runcible::open_async cpu -tenant $tenant]
    set backend [$opening wait]
    $opening destroy
    check {[dict get [$tenant usage] backends] == 1}
    set found [dict get [::json::json2dict [$tenant metrics]] tenants]
    check {[dict get [lindex $found 0] name] eq $name}
    $backend destroy
    check {[dict get [$tenant usage] backends] == 0}
    $tenant close
    check {[failure {runcible::open_async cpu -tenant $tenant}] eq "CLOSED"}
    $tenant destroy
}

it opening_refuses_wrong_options_at_once {
    check {[failure {runcible::open_async cpu -tenant acme}] eq "VALUE"}
    check {[failure {runcible::open_async cpu -nothing 1}] eq "VALUE"}
    check {[failure {runcible::open_async cpu -threads -1}] eq "INVALID_ARGUMENT"}
}

it opening_ends_with_its_interpreter {
    check {[run_tcl {
        runcible::open_async cpu -progress {set ::fraction}
        runcible::discover_async
        puts ends
    }] eq "ends"}
}
